import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { find, type KubernetesObject } from './support/objects.ts';
import { overlayNames, render, type Overlay } from './support/render.ts';
import { problemsOf } from './support/schemas.ts';

type Plugin = { name: string; parameters: Record<string, string> };
type ClusterSpec = {
  bootstrap: {
    initdb?: { database: string; owner: string };
    recovery?: { source: string; database: string; owner: string };
  };
  externalClusters?: { name: string; plugin: Plugin }[];
  plugins: Plugin[];
};

describe.each(overlayNames)('the manifests of %s', (overlay) => {
  test('are valid for Kubernetes and its operators', async () => {
    const objects = await render(overlay);
    const problems = objects.map((object) => [`${object.kind} ${object.metadata.name}`, problemsOf(object)]);
    expect(problems.filter(([, problem]) => problem !== '')).toEqual([]);
  });

  test('name each object once, in one namespace', async () => {
    const objects = await render(overlay);
    const names = objects.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`);
    expect([...new Set(names)]).toEqual(names);
    const namespaced = objects.filter(({ kind }) => kind !== 'Namespace' && kind !== 'PriorityClass');
    expect(new Set(namespaced.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['quittance']));
  });
});

test.each<Overlay>(['local', 'production', 'external', 'external with a store'])(
  'every object of %s is found by its label',
  async (overlay) => {
    const objects = (await render(overlay)).filter(({ kind }) => kind !== 'Secret');
    for (const { kind, metadata } of objects)
      expect([kind, metadata.name, metadata.labels]).toMatchObject([
        ...[kind, metadata.name],
        { 'app.kubernetes.io/part-of': 'quittance' },
      ]);
  },
);

describe('the schemas', () => {
  const changed = async (kind: string, name: string, path: string, value: unknown) => {
    const object = find(await render('production'), kind, name);
    const fields = path.split('.');
    const last = fields.pop()!;
    let place = object as Record<string, unknown>;
    for (const field of fields) place = place[field] as Record<string, unknown>;
    place[last] = value;
    return problemsOf(object);
  };

  test('refuse a misspelt field, however deep', async () => {
    const path = 'spec.template.spec.containers.0.readynessProbe';
    expect(await changed('Deployment', 'payments', path, {})).toContain("'readynessProbe'");
  });

  test('refuse a value of the wrong kind', async () => {
    const problem = await changed('HorizontalPodAutoscaler', 'payments', 'spec.maxReplicas', 'six');
    expect(problem).toContain('/spec/maxReplicas must be integer');
  });

  test("refuse a field that an operator's kind does not have", async () => {
    const path = 'spec.postgresql.synchronous.dataDurability';
    expect(await changed('Cluster', 'postgres', path, 'most of the time')).toContain(`/${path.replaceAll('.', '/')}`);
    expect(await changed('RabbitmqCluster', 'rabbitmq', 'spec.rabbitmq.config', '')).toContain("'config'");
  });
});

describe('the Cluster that docs/kubernetes.md restores into', () => {
  /** The page's one YAML block that describes a cluster restored from a backup. */
  const documented = (): { spec: ClusterSpec } => {
    const page = readFileSync(join(repositoryRoot, 'docs', 'kubernetes.md'), 'utf8');
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = '']) => block);
    expect(blocks.filter((block) => block.includes('recovery:'))).toHaveLength(1);
    return parse(blocks.find((block) => block.includes('recovery:'))!) as { spec: ClusterSpec };
  };

  test('is valid for the operator, and reads the backups that the first one writes', async () => {
    const first = find(await render('production'), 'Cluster', 'postgres') as KubernetesObject & { spec: ClusterSpec };
    const { spec } = documented();
    const restored = {
      ...first,
      metadata: { ...first.metadata, name: 'postgres-2' },
      spec: { ...first.spec, ...spec },
    };
    expect(problemsOf(restored)).toBe('');

    const { initdb, recovery } = { ...first.spec.bootstrap, ...spec.bootstrap };
    expect(recovery).toMatchObject({ database: initdb!.database, owner: initdb!.owner });
    const source = spec.externalClusters!.find(({ name }) => name === recovery!.source)!.plugin;
    const [archiver] = first.spec.plugins;
    expect(source.name).toBe(archiver!.name);
    expect(source.parameters).toEqual({ ...archiver!.parameters, serverName: first.metadata.name });
  });
});
