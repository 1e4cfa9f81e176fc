import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parseAllDocuments } from 'yaml';
import { run } from '../../../../infra/kubernetes/packaged-tools.ts';
import type { KubernetesObject, Labels } from './objects.ts';

export const chart = join(repositoryRoot, 'k8s', 'charts', 'quittance');

/** What `helm install` would send with these values over the chart's own. @throws Error with Helm's own message. */
export async function helmTemplate(values: object = {}): Promise<KubernetesObject[]> {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-chart-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    const text = await run('helm', ['template', 'shop', chart, '--namespace', 'quittance', '--values', file]);
    return parseAllDocuments(text)
      .map((document) => document.toJS() as KubernetesObject | null)
      .filter((object) => object !== null);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * The objects of a kustomization or of the chart, sorted and without what differs by design: the namespace, which Helm is told when it
 * installs; the hashes in names, by which kustomize replaces pods and Helm replaces Jobs; the labels and the checksum that Helm needs.
 */
export function comparable(objects: readonly KubernetesObject[]): KubernetesObject[] {
  const hashed = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
  const names = new Map(hashed.map((name) => [name, name.replace(/-[a-z0-9]{10}$/, '')]));
  const plain = JSON.parse(JSON.stringify(objects), (_, value: unknown) =>
    typeof value === 'string' ? (names.get(value) ?? value) : value,
  ) as KubernetesObject[];
  return plain
    .filter(({ kind }) => kind !== 'Namespace')
    .map(simplified)
    .sort((a, b) => identity(a).localeCompare(identity(b)));
}

export const identity = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

function simplified(object: KubernetesObject): KubernetesObject {
  const { metadata, spec, data } = object;
  delete metadata.namespace;
  if (object.kind === 'Job') metadata.name = metadata.name.replace(/-[0-9a-f]{10}$/, '');
  metadata.labels = without(metadata.labels, /^helm\.sh\/chart$|^app\.kubernetes\.io\/(instance|managed-by|version)$/);
  const template = templateOf(spec);
  if (template?.metadata !== undefined)
    template.metadata.annotations = without(template.metadata.annotations, /^checksum\/settings$/);
  // The order of keys is nobody's business.
  if (data?.['networks.json'] !== undefined) data['networks.json'] = JSON.parse(data['networks.json']) as never;
  return object;
}

type Template = { metadata?: { labels?: Labels; annotations?: Labels } };

/** Of a Deployment, a Job or a CronJob. */
export function templateOf(spec: unknown): Template | undefined {
  const { template, jobTemplate } = (spec ?? {}) as {
    template?: Template;
    jobTemplate?: { spec: { template: Template } };
  };
  return template ?? jobTemplate?.spec.template;
}

const without = (labels: Labels | undefined, helms: RegExp): Labels =>
  Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => !helms.test(name)));
