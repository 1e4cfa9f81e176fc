import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { helmTemplate } from '../deployment/kubernetes/support/chart.ts';
import { ofKind, podsOf, type KubernetesObject } from '../deployment/kubernetes/support/objects.ts';
import { render } from '../deployment/kubernetes/support/render.ts';

/** How commands call the kinds, in the singular. */
const kinds: Record<string, string> = {
  ...{ deploy: 'Deployment', deployment: 'Deployment', job: 'Job', cronjob: 'CronJob', service: 'Service' },
  ...{ hpa: 'HorizontalPodAutoscaler', cluster: 'Cluster', rabbitmqcluster: 'RabbitmqCluster' },
  ...{ externalsecret: 'ExternalSecret', secret: 'Secret', configmap: 'ConfigMap', scheduledbackup: 'ScheduledBackup' },
};
/** Their pods and labels are made by operators. */
const ofOperators = /cnpg\.io\/cluster=|name=rabbitmq/;
/** What a reader creates, restores into or removes in the guide itself. */
const transient =
  /^(cluster\/postgres-2|deploy\/notifier$|secret\/(ca-bundle|postgres-ca|internal-token|registry)|job\/check-)/;

type Named = { page: string; command: string };

const commands: Named[] = globSync('docs/{*.md,runbooks/*.md}', { cwd: repositoryRoot }).flatMap((page) => {
  const text = readFileSync(join(repositoryRoot, page), 'utf8');
  const blocks = [...text.matchAll(/^ *```sh.*?\n(.*?)^ *```/gms)].flatMap(([, block = '']) => block.split('\n'));
  const spans = [...text.replaceAll(/^ *```.*?^ *```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  // What runs inside a pod is no argument of kubectl.
  const all = [...blocks, ...spans].filter((line) => /\bkubectl\b/.test(line) && !line.includes('-n rabbitmq-system'));
  return all.map((command) => ({ page, command: command.replace(/ -- .*/, '').replace('<service>', 'payments') }));
});

/** `deploy/payments` and `scale deployment payments`; placeholders such as SERVICE and `$name` name nothing. */
function namesIn(command: string): string[] {
  const slashed = [...command.matchAll(/\b([a-z]+)\/([a-z][a-z0-9-]*)/g)].map(([, kind = '', name = '']) => [
    kind,
    name,
  ]);
  const verb =
    /\b(?:get|describe|delete|status|undo|restart|pause|resume|history|patch|scale) ([a-z]+)((?: [a-z][a-z0-9-]*)+)/;
  const [, kind = '', names = ''] = verb.exec(command) ?? [];
  const spoken = names
    .split(' ')
    .filter(Boolean)
    .map((name) => [kind, name]);
  return [...slashed, ...spoken].filter(([one = '']) => one in kinds).map((pair) => pair.join('/'));
}

const labelsIn = (command: string): string[] =>
  [...command.matchAll(/(?:-l|--selector)[ =]'?(app\.kubernetes\.io\/[a-z]+)(?:=| in \()([a-z, -]+)/g)].flatMap(
    ([, label = '', values = '']) => values.split(',').map((value) => `${label}=${value.trim().split(' ')[0] ?? ''}`),
  );

describe.each([
  ['production', () => render('production')],
  ['external', () => render('external')],
  ['the chart', () => helmTemplate()],
] as const)('the kubectl commands in the docs and runbooks, with %s', (way, objectsOf) => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await objectsOf();
  });
  const hasOperators = way !== 'external';
  const exists = (name: string): boolean => {
    const [kind = '', own = ''] = name.split('/');
    // Helm ends the name of a Job in a hash.
    const matches = (made: string) =>
      made === own || (way === 'the chart' && made.replace(/-[0-9a-f]{10}$/, '') === own);
    const secrets = kind === 'secret' ? ofKind(objects, 'ExternalSecret', 'Secret') : ofKind(objects, kinds[kind]!);
    return secrets.some(({ metadata }) => matches(metadata.name));
  };

  test('name objects that exist', () => {
    const named = commands.flatMap(({ page, command }) => namesIn(command).map((name) => ({ page, command, name })));
    expect(named.length).toBeGreaterThan(60);
    const ofBackends = /^(cluster|rabbitmqcluster|externalsecret|scheduledbackup)\//;
    const expected = named.filter(({ name }) => !transient.test(name) && (hasOperators || !ofBackends.test(name)));
    expect(expected.filter(({ name }) => !exists(name))).toEqual([]);
  });

  test('select pods or objects that exist', () => {
    const labels = new Set(
      commands.flatMap(({ command }) => labelsIn(command)).filter((one) => !ofOperators.test(one)),
    );
    expect(labels.size).toBeGreaterThan(5);
    const carried = new Set(
      [...podsOf(objects).map((pod) => pod.labels), ...objects.map(({ metadata }) => metadata.labels ?? {})].flatMap(
        (own) => Object.entries(own).map(([label, value]) => `${label}=${value}`),
      ),
    );
    expect([...labels].filter((label) => !carried.has(label))).toEqual([]);
  });

  test('name containers that exist', () => {
    const named = commands.flatMap(({ command }) => /(?:-c|--container)[ =]([a-z-]+)/.exec(command)?.[1] ?? []);
    const containers = podsOf(objects).flatMap((pod) =>
      [...pod.containers, ...pod.initContainers].map(({ name }) => name),
    );
    expect(named.filter((name) => !containers.includes(name))).toEqual([]);
  });
});
