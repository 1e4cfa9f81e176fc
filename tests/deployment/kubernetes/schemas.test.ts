import { describe, expect, test } from '@jest/globals';
import { find } from './support/objects.ts';
import { overlayNames, render } from './support/render.ts';
import { problemsOf } from './support/schemas.ts';

describe.each(overlayNames)('the manifests of %s', (overlay) => {
  test('are what Kubernetes and the operators take', async () => {
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

  test("refuse what an operator's kind does not have", async () => {
    const path = 'spec.postgresql.synchronous.dataDurability';
    expect(await changed('Cluster', 'postgres', path, 'most of the time')).toContain(`/${path.replaceAll('.', '/')}`);
    expect(await changed('RabbitmqCluster', 'rabbitmq', 'spec.rabbitmq.config', '')).toContain("'config'");
  });
});
