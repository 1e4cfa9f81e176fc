import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { brokerUsers, passwordSettingOf } from '@quittance/messaging/broker/set-up.ts';
import { operatorPermissions, permissionsOf, topicPermissionsOf } from '@quittance/messaging/broker/topology.ts';
import { isSignedBy, parsePublicKeys, signerOfKey } from '@quittance/runtime/trust.ts';
import { readSettings, samples } from '../../support/service-settings.ts';
import { environmentIn, environmentOf, externalSecret, TRUST_KEYS_BLANK } from './support/environment.ts';
import { jobPods, ofKind, specsOf, type KubernetesObject, type Pod } from './support/objects.ts';
import { overlayNames, render } from './support/render.ts';

const permissions = brokerUsers.map(
  (user) => [user, user === 'operator' ? operatorPermissions : permissionsOf(user)] as const,
);

describe.each(overlayNames)('the manifests of %s', (overlay) => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render(overlay);
  });
  const brokerJob = () => jobPods(objects, 'broker')[0]!;
  const isUpgrade = overlay === 'production on its way from 0.2.0';

  test('give each process its own key, by which all services recognize it', () => {
    const holders = [...serviceNames, 'ops'];
    const keys = holders.map((name) => environmentOf(objects, name === 'ops' ? 'operator' : name)['SIGNING_KEY']!);
    expect(new Set(keys).size).toBe(holders.length);
    for (const service of serviceNames) {
      const known = parsePublicKeys(environmentOf(objects, service)['TRUSTED_KEYS']!);
      // The key of the optional notifier may be known before it runs.
      const required = [...known.keys()].filter((name) => name !== 'notifier');
      expect(required.sort()).toEqual([...holders].sort());
      const isKnown = holders.map((name, at) => isSignedBy(known, name, 'a text', signerOfKey(keys[at]!)('a text')));
      expect(isKnown).toEqual(holders.map(() => true));
    }
  });

  test('have the token that all services shared in no environment, except for an upgrade from 0.2.0', () => {
    const told = [...serviceNames, 'operator', 'console'].filter(
      (name) => environmentOf(objects, name)['INTERNAL_TOKEN'] !== undefined,
    );
    expect(told).toEqual(isUpgrade ? [...serviceNames, 'operator'] : []);
    if (!isUpgrade) expect(JSON.stringify(objects)).not.toMatch(/internal.?token"/i);
  });

  test('connect each process to RabbitMQ with its own user, and have a Job of its version prepare RabbitMQ', () => {
    const urls = brokerUsers.map((name) => new URL(environmentOf(objects, name)['AMQP_URL']!));
    expect(urls.map(({ username }) => username)).toEqual(brokerUsers);
    const { name, containers } = brokerJob();
    const admin = new URL(environmentIn(objects, containers[0]!)['RABBITMQ_ADMIN_URL']!);
    expect(brokerUsers).not.toContain(admin.username);
    expect(new Set([...urls, admin].map(({ host, pathname }) => host + pathname)).size).toBe(1);
    expect(name).toBe('prepare-broker');
    const { image, command } = containers[0]!;
    expect(command).toEqual(['node', 'packages/messaging/src/broker/prepare.ts']);
    const [gateway] = jobPods(objects, 'migration').filter((job) => job.name === 'migrate-api-gateway');
    expect(image).toBe(gateway!.containers[0]!.image);
  });
});

test.each(['local', 'production', 'external'] as const)(
  'the Job of %s that prepares RabbitMQ has settings with which it connects to RabbitMQ',
  async (overlay) => {
    const objects = await render(overlay);
    const [{ containers }] = jobPods(objects, 'broker') as [Pod];
    const env = Object.entries(environmentIn(objects, containers[0]!)).map(([name, value]) => [
      name,
      value.replace(/@[\w.-]+:\d+/, '@127.0.0.1:1'),
    ]);
    const [program = '', ...args] = containers[0]!.command!;
    expect(program).toBe('node');
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: repositoryRoot,
      env: Object.fromEntries(env) as Record<string, string>,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, '']);
    expect(stdout).toContain('ECONNREFUSED');
  },
);

test('production starts no service without changes, whatever keys are in the store', () => {
  const { TRUSTED_KEYS = '' } = parseEnv(read('k8s/overlays/production/settings/common.env'));
  expect(TRUSTED_KEYS).toBe(TRUST_KEYS_BLANK);
  for (const service of serviceNames)
    expect(() => readSettings(service, { ...samples, TRUSTED_KEYS })).toThrow('TRUSTED_KEYS');
});

test('the users of the local overlay have the passwords that the Job gives them', async () => {
  const objects = await render('local');
  const given = environmentIn(objects, jobPods(objects, 'broker')[0]!.containers[0]!);
  for (const user of brokerUsers) {
    const name = passwordSettingOf(user);
    expect([name, new URL(environmentOf(objects, user)['AMQP_URL']!).password]).toEqual([name, given[name]]);
  }
});

describe("production's RabbitMQ", () => {
  type User = { importCredentialsSecret: { name: string }; tags?: string[] };
  type Permission = { userReference: { name: string }; vhost: string; permissions: object };
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render('production');
  });

  test('has a user for each client, and one that prepares it; none is an administrator', () => {
    const logins = specsOf<User>(objects, 'User').map(({ name, spec: { importCredentialsSecret: secret, tags } }) => [
      name,
      externalSecret(objects, secret.name)['username'],
      tags,
    ]);
    expect(logins.sort()).toEqual([...brokerUsers, 'setup'].map((name) => [name, name, undefined]).sort());
  });

  test('allows each in the virtual host what topology.ts says, and `setup` everything', () => {
    const found = specsOf<Permission>(objects, 'Permission').map(({ spec }) => [
      spec.userReference.name,
      { vhost: spec.vhost, ...spec.permissions },
    ]);
    const [vhost] = specsOf<{ name: string }>(objects, 'Vhost').map(({ spec }) => spec.name);
    const everything = { configure: '.*', write: '.*', read: '.*' };
    const expected = [...permissions, ['setup', everything] as const].map(([user, may]) => [user, { vhost, ...may }]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    expect(found).toHaveLength(expected.length);
    const topics = specsOf<Permission>(objects, 'TopicPermission').map(({ spec }) => [
      spec.userReference.name,
      { vhost: spec.vhost, ...spec.permissions },
    ]);
    expect(topics.sort()).toEqual(serviceNames.map((name) => [name, { vhost, ...topicPermissionsOf(name) }]).sort());
    expect(ofKind(objects, 'Vhost')).toHaveLength(1);
    expect(new URL(environmentOf(objects, 'payments')['AMQP_URL']!).pathname).toBe(`/${vhost}`);
  });
});

test('docs/kubernetes.md has the permissions for an external RabbitMQ', () => {
  const lines = [
    ...read('docs/kubernetes.md').matchAll(/rabbitmqctl set_permissions -p quittance (\S+) +'(.+)' '(.+)' '(.+)'$/gm),
  ];
  const documented = lines.map(([, user, configure, write, may]) => [user, { configure, write, read: may }]);
  const everything = { configure: '.*', write: '.*', read: '.*' };
  expect(documented).toEqual([...permissions, ['setup', everything]]);
  const topics = serviceNames.map((name) => {
    const { exchange, write, read: may } = topicPermissionsOf(name);
    return `rabbitmqctl set_topic_permissions -p quittance ${name} ${exchange} '${write}' '${may}'`;
  });
  expect(read('docs/kubernetes.md').match(/rabbitmqctl set_topic_permissions .*/g)).toEqual(topics);
});

function read(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8');
}
