import { entry, hole, lines } from './holes.ts';
import type { Container, PodSpec, Template } from './objects.ts';
import { checksumOf } from './settings.ts';

/** What the chart's values decide about a pod: pull secrets, an authority of your own, and when the pod is replaced. Changes the template. */
export function fillPod(template: Template): void {
  const { spec } = template;
  const maps = configMapsOf(spec);
  if (maps.length > 0) template.metadata.annotations = { 'checksum/settings': checksumOf(maps) };
  Object.assign(
    spec,
    entry('{{- with .Values.image.pullSecrets }}\nimagePullSecrets:\n  {{- toYaml . | nindent INDENT }}\n{{- end }}'),
  );
  if ('priorityClassName' in spec) spec.priorityClassName = hole('.Values.priorityClass.name');
  const trusting = spec.containers.filter(({ name }) => ['service', 'operator', 'prepare'].includes(name));
  for (const container of trusting) trustAuthority(container);
  if (trusting.length > 0) addVolume(spec);
}

const AUTHORITY = '.Values.caBundle.secret';

/** As components/ca-bundle does. */
function trustAuthority(container: Container): void {
  const variable = '- { name: NODE_EXTRA_CA_CERTS, value: /etc/quittance/ca/ca.crt }';
  const mount = '- { name: ca-bundle, mountPath: /etc/quittance/ca, readOnly: true }';
  add(container, 'env', variable);
  add(container, 'volumeMounts', mount);
}

function addVolume(spec: PodSpec): void {
  const source = `secret: { secretName: {{ ${AUTHORITY} }}, items: [{ key: {{ .Values.caBundle.key }}, path: ca.crt }] }`;
  add(spec, 'volumes', `- name: ca-bundle\n  ${source}`);
}

/** An item in a list of the object, which may have no such list yet. */
function add<Key extends string>(object: { [name in Key]?: unknown[] }, key: Key, item: string): void {
  const list: unknown[] | undefined = object[key];
  const begin = `{{- if ${AUTHORITY} }}`;
  if (list !== undefined) list.unshift(lines(`${begin}\n${item}\n{{- end }}`));
  else Object.assign(object, entry(`${begin}\n${key}:\n${item.replaceAll(/^/gm, '  ')}\n{{- end }}`));
}

function configMapsOf({ containers, volumes = [] }: PodSpec): string[] {
  const variables = containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name));
  const files = (volumes as { configMap?: { name: string } }[]).map(({ configMap }) => configMap?.name);
  return [...variables, ...files].filter((name) => name !== undefined);
}
