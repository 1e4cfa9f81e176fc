import { NOTICES, PRIVATE_AUTHORITY } from './conditions.ts';
import { entry, helmValue, hole, lines } from './holes.ts';
import type { Container, PodSpec, Template } from './objects.ts';
import { checksumOf } from './settings.ts';

/**
 * What the chart's values decide about a pod: pull secrets, resources, an authority of your own, and when the pod is replaced. Changes the
 * template.
 * @param owner the workload's name. All migrations share their resources.
 */
export function fillPod(owner: string, template: Template): void {
  const { spec } = template;
  const isDispatcher = owner === 'webhook-dispatcher';
  const maps = [...configMapsOf(spec), ...(isDispatcher ? authorities.map(({ name }) => name) : [])];
  for (const container of spec.containers)
    fillResources(container, owner.startsWith('migrate-') ? 'migrations' : owner);
  if (maps.length > 0) template.metadata.annotations = { 'checksum/settings': checksumOf(maps) };
  Object.assign(
    spec,
    entry('{{- with .Values.image.pullSecrets }}\nimagePullSecrets:\n  {{- toYaml . | nindent INDENT }}\n{{- end }}'),
  );
  if ('priorityClassName' in spec) spec.priorityClassName = hole('.Values.priorityClass.name');
  const trusting = spec.containers.filter(({ name }) => ['service', 'operator', 'prepare'].includes(name));
  for (const container of trusting) trustAuthority(container);
  if (trusting.length > 0) addVolume(spec);
  if (isDispatcher) trustReceivers(spec);
}

/** The values are merged over what the kustomization has, so that one number can be changed alone. */
function fillResources(container: Container, owner: string): void {
  const own = `(deepCopy (index .Values.resources "${owner}" | default dict))`;
  const merged = `mergeOverwrite ${helmValue(container.resources)} ${own}`;
  container.resources = entry(`{{- ${merged} | toYaml | nindent INDENT }}`);
}

const AUTHORITY = '.Values.caBundle.secret';

/** As components/ca-bundle does. */
function trustAuthority(container: Container): void {
  const variable = '- { name: NODE_EXTRA_CA_CERTS, value: /etc/quittance/ca/ca.crt }';
  const mount = '- { name: ca-bundle, mountPath: /etc/quittance/ca, readOnly: true }';
  add(container, 'env', AUTHORITY, variable);
  add(container, 'volumeMounts', AUTHORITY, mount);
}

function addVolume(spec: PodSpec): void {
  const source = `secret: { secretName: {{ ${AUTHORITY} }}, items: [{ key: {{ .Values.caBundle.key }}, path: ca.crt }] }`;
  add(spec, 'volumes', AUTHORITY, `- name: ca-bundle\n  ${source}`);
}

/** ConfigMaps with authorities of receivers in private networks. */
const authorities = [
  { name: 'private-targets-ca', path: '/etc/quittance/private-targets', condition: PRIVATE_AUTHORITY },
  { name: 'notices-ca', path: '/etc/quittance/notices', condition: NOTICES },
];

/** As components/private-webhook-targets and components/notices do. */
function trustReceivers(spec: PodSpec): void {
  for (const { name, path, condition } of authorities) {
    const mount = `- { name: ${name}, mountPath: ${path}, readOnly: true }`;
    for (const container of spec.containers) add(container, 'volumeMounts', condition, mount);
    add(spec, 'volumes', condition, `- { name: ${name}, configMap: { name: ${name} } }`);
  }
}

/** An item in a list of the object, which may have no such list yet. */
function add<Key extends string>(
  object: { [name in Key]?: unknown[] },
  key: Key,
  condition: string,
  item: string,
): void {
  const list: unknown[] | undefined = object[key];
  const begin = `{{- if ${condition} }}`;
  if (list !== undefined) list.unshift(lines(`${begin}\n${item}\n{{- end }}`));
  else Object.assign(object, entry(`${begin}\n${key}:\n${item.replaceAll(/^/gm, '  ')}\n{{- end }}`));
}

function configMapsOf({ containers, volumes = [] }: PodSpec): string[] {
  const variables = containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name));
  const files = (volumes as { configMap?: { name: string } }[]).map(({ configMap }) => configMap?.name);
  return [...variables, ...files].filter((name) => name !== undefined);
}
