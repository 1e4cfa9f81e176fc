import { readdirSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../generated-files.ts';
import { kustomize } from '../packaged-tools.ts';
import { conditionOf } from './conditions.ts';
import { fill } from './fill.ts';
import { entry, hole, templateText } from './holes.ts';
import { mapStrings, type KubernetesObject, type Template } from './objects.ts';
import { chartReadme } from './readme.ts';
import { settingsTemplate } from './settings.ts';

const chart = 'k8s/charts/quittance';

const read = (path: string): string => readFileSync(repositoryRoot + path, 'utf8');

/** What production lacks, and the chart offers: each file is that of a kustomization. */
const additional = [
  'k8s/overlays/external/policies.yaml',
  'k8s/components/gateway-api/route.yaml',
  'k8s/components/keda/scaled-object.yaml',
  'k8s/components/notices/deployment.yaml',
  'k8s/components/notices/policy.yaml',
  'k8s/components/notices/service.yaml',
  'k8s/components/otlp/policy.yaml',
  'k8s/components/private-webhook-targets/policy.yaml',
];

/** ConfigMaps of components, whose contents the chart's values and files decide. */
const additionalMaps: Record<string, Record<string, string>> = {
  dashboards: {},
  'private-targets-ca': {},
  'notices-ca': {},
  'notifier-settings': parseEnv(read('k8s/components/notices/notifier.env')) as Record<string, string>,
};

/** Kinds whose whole `spec` the values may change, and where. */
const overridden: Record<string, string> = {
  Cluster: '.Values.postgres.cluster',
  ObjectStore: '.Values.postgres.objectStore',
  RabbitmqCluster: '.Values.rabbitmq.cluster',
};

/**
 * The files of the chart that repeat the kustomizations: one template for each kind of object in production's overlay. The others, with the
 * values, are written by people. `npm run manifests` writes them.
 * @returns text by path from the root of the repository.
 */
export async function chartFiles(): Promise<Record<string, string>> {
  const more = additional.flatMap((path) => objectsOf(read(path))).map(prioritized);
  const maps = Object.entries(additionalMaps).map(([name, data]) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
  }));
  const objects = [...objectsOf(await kustomize(`${repositoryRoot}k8s/overlays/production`)), ...more, ...maps];
  // `helm install --create-namespace` makes it; docs/kubernetes.md has its labels.
  const ours = withoutHashes(objects).filter(({ kind }) => kind !== 'Namespace');
  const byKind = Object.groupBy(ours, ({ kind }) => kind.toLowerCase());
  const templates = Object.entries(byKind).map(([kind, group = []]) => [
    `${chart}/templates/${kind}.yaml`,
    `{{- /* Written by npm run manifests, from the kustomizations. */ -}}\n${group.map(template).join('\n')}\n`,
  ]);
  return {
    [`${chart}/README.md`]: chartReadme(read(`${chart}/values.yaml`)),
    [`${chart}/files/networks.json`]: read('infra/networks.json'),
    [`${chart}/files/schemas.sql`]: read('k8s/components/schemas/schemas.sql'),
    ...Object.fromEntries(
      dashboards().map((name) => [`${chart}/files/dashboards/${name}`, read(`${DASHBOARDS}/${name}`)]),
    ),
    ...(Object.fromEntries(templates) as Record<string, string>),
  };
}

const DASHBOARDS = 'k8s/components/dashboards';
const dashboards = (): string[] => readdirSync(repositoryRoot + DASHBOARDS).filter((name) => name.endsWith('.json'));

/** The template of one object: its condition, the partial templates that it needs, and itself. */
function template(original: KubernetesObject): string {
  const condition = conditionOf(original);
  const object = fill(original);
  const partials: string[] = [];
  const partial = (name: string, value: unknown): void => {
    partials.push(`{{- define "${name}" -}}\n${templateText(value)}\n{{- end }}`);
  };
  if (object.kind === 'ConfigMap') {
    const { partial: text, include } = settingsTemplate(original.metadata.name, original.data ?? {});
    partials.push(text);
    object.data = entry(include) as never;
  }
  if (object.kind === 'Job') {
    // A Job cannot be changed. One with other contents has another name, and Helm deletes the old one.
    const name = `quittance.job.${object.metadata.name}`;
    partial(name, object.spec);
    object.metadata.name += `-${hole(`include "${name}" . | sha256sum | trunc 10`)}`;
    object.spec = entry(`{{- include "${name}" . | nindent INDENT }}`);
  }
  const values = overridden[object.kind];
  if (values !== undefined) {
    const name = `quittance.spec.${object.kind}`;
    partial(name, object.spec);
    const merged = `mergeOverwrite (fromYaml (include "${name}" .)) (deepCopy ${values})`;
    object.spec = entry(`{{- ${merged} | toYaml | nindent INDENT }}`);
  }
  const text = `---\n${templateText(object)}`;
  return [...partials, condition === null ? text : `{{- if ${condition} }}\n${text}\n{{- end }}`].join('\n');
}

/** As production's patch, which reaches what production has. */
function prioritized(object: KubernetesObject): KubernetesObject {
  if (object.kind === 'Deployment')
    (object.spec as { template: Template }).template.spec.priorityClassName = 'quittance';
  return object;
}

/** Kustomize's names of ConfigMaps end in a hash. Helm keeps the name, and replaces the pods by a checksum. */
function withoutHashes(objects: KubernetesObject[]): KubernetesObject[] {
  const names = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
  const plain = new Map(names.map((name) => [name, name.replace(/-[a-z0-9]{10}$/, '')]));
  return mapStrings(objects, (text) => plain.get(text) ?? text) as KubernetesObject[];
}

const objectsOf = (text: string): KubernetesObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
