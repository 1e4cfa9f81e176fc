import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { readFrameConfig, readMigrationConfig } from '@quittance/runtime/service-settings.ts';
import { readConfig as readConsoleConfig } from '../../../services/console/src/config.ts';
import { readConfig as readOpsConfig, serviceSettings } from '../../../packages/ops/src/config.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { readSettings, samples } from '../../support/service-settings.ts';
import { judgeSettings } from '../support/settings-agreement.ts';
import { environmentIn, environmentOf, externalSecret, type ExternalSecretSpec } from './support/environment.ts';
import {
  find,
  jobPods,
  ofKind,
  podOf,
  servicePods,
  specOf,
  specsOf,
  type KubernetesObject,
} from './support/objects.ts';
import { overlayNames, render } from './support/render.ts';

/** The clients of the broker, by the name of their Secret. */
const connecting = [...serviceNames, 'operator'];

/** Not a setting of Node itself. */
const isOurs = (name: string): boolean => name !== 'NODE_EXTRA_CA_CERTS';

describe.each(overlayNames)('the manifests of %s', (overlay) => {
  let objects: KubernetesObject[];
  let directory: string;

  beforeAll(async () => {
    objects = await render(overlay);
    directory = mkdtempSync(join(tmpdir(), 'manifests-'));
    writeFileSync(join(directory, 'networks.json'), networksFile());
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const networksFile = (): string =>
    ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.startsWith('networks'))!.data!['networks.json']!;
  /** The placeholders for secrets in the URLs and headers of the networks file. */
  const placeholders = (): string[] => [...networksFile().matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);

  test('give each service its required settings, and none that it does not know', () => {
    const secrets = new Set(placeholders());
    const given = serviceNames.map((service) => {
      const names = Object.keys(environmentOf(objects, service)).filter(isOurs);
      return [service, new Set(names.filter((name) => !secrets.has(name)))] as const;
    });
    expect(judgeSettings(new Map(given))).toEqual([]);
  });

  test.each(serviceNames)('give %s values with which it starts in production', (service) => {
    const env: NodeJS.ProcessEnv = environmentOf(objects, service);
    if (env['NETWORKS_FILE'] !== undefined) env['NETWORKS_FILE'] = join(directory, 'networks.json');
    if (env['WEBHOOK_PRIVATE_TARGETS_CA'] !== undefined) {
      const file = mountedFile(objects, service, env['WEBHOOK_PRIVATE_TARGETS_CA']);
      writeFileSync((env['WEBHOOK_PRIVATE_TARGETS_CA'] = join(directory, 'ca.pem')), file);
    }
    expect(() => readSettings(service, env)).not.toThrow();
    expect(env['NODE_ENV']).toBe('production');
  });

  test('mount the networks file at the path in each service’s settings', () => {
    for (const service of [...serviceNames, 'console']) {
      const { containers, spec } = podOf(objects, service);
      const file = environmentOf(objects, service)['NETWORKS_FILE'];
      const mounted = (containers[0]!.volumeMounts ?? []).filter(({ name }) => name === 'networks');
      expect(mounted.map(({ mountPath }) => `${mountPath}/networks.json`)).toEqual(file === undefined ? [] : [file]);
      for (const { configMap } of (spec.volumes ?? []).filter(({ name }) => name === 'networks')) {
        expect(find(objects, 'ConfigMap', configMap!.name).data).toHaveProperty(['networks.json']);
      }
    }
  });

  test('give migrations, and the pods that wait for them, the database and nothing else', () => {
    const tasks = [...jobPods(objects, 'migration'), ...servicePods(objects)];
    for (const { kind, containers, initContainers } of tasks) {
      const env = environmentIn(objects, (kind === 'Job' ? containers : initContainers)[0]!);
      expect(Object.keys(env)).toEqual(['DATABASE_URL']);
      expect(() => readMigrationConfig(env)).not.toThrow();
    }
  });

  test("give the operator's pod the URL of every service, and nothing that the command line does not know", () => {
    const env = environmentOf(objects, 'operator');
    const { urls, signingKey, amqpUrl, sharedToken } = readOpsConfig(env);
    expect(Object.values(urls)).not.toContain('');
    expect([signingKey, amqpUrl]).toEqual([env['SIGNING_KEY'], env['AMQP_URL']]);
    const upgrading = sharedToken === '' ? [] : ['INTERNAL_TOKEN'];
    const known = [...Object.values(serviceSettings), 'AMQP_URL', 'SIGNING_KEY', ...upgrading];
    expect(Object.keys(env).filter(isOurs).sort()).toEqual(known.sort());
  });

  test('give the console values with which it starts, nothing that it does not know, and no secret', () => {
    const asked = new Set<string>();
    const env: NodeJS.ProcessEnv = {
      ...environmentOf(objects, 'console'),
      NETWORKS_FILE: join(directory, 'networks.json'),
    };
    const watched = new Proxy(env, { get: (target, name: string) => (asked.add(name), target[name]) });
    readConsoleConfig(watched);
    readFrameConfig(watched);
    // The image's own environment also sets this one.
    expect(Object.keys(env).filter((name) => !asked.has(name) && name !== 'NODE_ENV')).toEqual([]);
    expect(env['NODE_ENV']).toBe('production');
    const { containers, spec } = podOf(objects, 'console');
    const from = containers.flatMap(({ envFrom = [], env: own = [] }) => [...envFrom, ...own]);
    expect(JSON.stringify([from, spec.volumes])).not.toContain('secret');
  });

  test('restart a service when its settings change, with names that depend on their contents', () => {
    const used = [...servicePods(objects), podOf(objects, 'console')].flatMap(({ containers, spec }) => [
      ...containers[0]!.envFrom!.flatMap(({ configMapRef }) => configMapRef?.name ?? []),
      ...spec.volumes!.flatMap(({ configMap }) => configMap?.name ?? []),
    ]);
    expect(used.filter((name) => !/-[a-z0-9]{10}$/.test(name))).toEqual([]);
  });
});

/** The file that a service finds at a mount path of a ConfigMap. @throws Error when there is none. */
function mountedFile(objects: readonly KubernetesObject[], service: string, path: string): string {
  const { containers, spec } = podOf(objects, service);
  const mount = containers[0]!.volumeMounts!.find(({ mountPath }) => path.startsWith(`${mountPath}/`))!;
  const volume = spec.volumes!.find(({ name }) => name === mount.name)!;
  return find(objects, 'ConfigMap', volume.configMap!.name).data![path.slice(mount.mountPath.length + 1)]!;
}

describe('external', () => {
  const secretsOf = async () => ofKind(await render('external'), 'Secret');

  test('has no operator and no secret, only a template with which no service starts unchanged', async () => {
    const groups = (await render('external')).map(({ apiVersion }) => apiVersion.split('/')[0]!);
    expect(groups.filter((group) => /cnpg|rabbitmq|external-secrets/.test(group))).toEqual([]);
    const applied = readFileSync(join(repositoryRoot, 'k8s/overlays/external/kustomization.yaml'), 'utf8');
    const { resources } = parse(applied) as { resources: string[] };
    expect(resources).toEqual(['../production', 'policies.yaml']);
    for (const service of serviceNames) {
      const { stringData } = (await secretsOf()).find(({ metadata }) => metadata.name === service)!;
      expect(() => readSettings(service, { ...samples, ...stringData })).toThrow('SIGNING_KEY');
    }
  });

  test('has each secret in its template, with the keys that production creates', async () => {
    const [production, secrets] = [await render('production'), await secretsOf()];
    for (const name of [...connecting, 'broker']) {
      const { target } = specOf<ExternalSecretSpec>(production, 'ExternalSecret', name);
      const { stringData = {} } = secrets.find(({ metadata }) => metadata.name === name)!;
      expect([name, Object.keys(stringData).sort()]).toEqual([name, Object.keys(target.template.data).sort()]);
    }
    expect(secrets.map(({ metadata }) => metadata.name).sort()).toEqual(
      [...connecting, 'broker', 'postgres-ca'].sort(),
    );
  });
});

describe('production', () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render('production');
  });
  const loginOf = (secret: string): string => externalSecret(objects, secret)['username']!;

  test('keeps no secret in the repository', () => {
    expect(ofKind(objects, 'Secret')).toEqual([]);
    // Only a template decides the content of a secret: names, URLs without passwords, and fetched values.
    const harmless = /^(?:\{\{ \.\w+ \}\}|[a-z_-]+|(?:postgres|amqp):\/\/[\w-]+:\{\{ \.\w+ \| urlquery \}\}@[^@]+)$/;
    const secrets = specsOf<ExternalSecretSpec>(objects, 'ExternalSecret');
    expect(secrets.length).toBeGreaterThan(serviceNames.length);
    for (const { name, spec } of secrets) {
      expect(spec.target.name).toBe(name);
      for (const template of Object.values(spec.target.template.data)) expect(template).toMatch(harmless);
    }
  });

  test('gives services and backends the same names and passwords', () => {
    const fetched = (secret: string, key: string) =>
      specOf<ExternalSecretSpec>(objects, 'ExternalSecret', secret).data.find(({ secretKey }) => secretKey === key)!
        .remoteRef;
    for (const service of serviceNames) {
      const { DATABASE_URL } = environmentOf(objects, service);
      expect(loginOf(`postgres-role-${service}`)).toBe(new URL(DATABASE_URL!).username);
      expect(fetched(service, 'database_password')).toEqual(fetched(`postgres-role-${service}`, 'password'));
    }
    for (const name of connecting) {
      const { AMQP_URL } = environmentOf(objects, name);
      expect(loginOf(`rabbitmq-user-${name}`)).toBe(new URL(AMQP_URL!).username);
      expect(fetched(name, 'amqp_password')).toEqual(fetched(`rabbitmq-user-${name}`, 'password'));
    }
  });

  test('creates every role that a service logs in as', () => {
    const { managed } = specOf<{ managed: { roles: { name: string; passwordSecret: { name: string } }[] } }>(
      objects,
      'Cluster',
      'postgres',
    );
    const logins = serviceNames.map((service) => new URL(environmentOf(objects, service)['DATABASE_URL']!).username);
    expect(managed.roles.map(({ name }) => name).sort()).toEqual([...logins].sort());
    for (const { name, passwordSecret } of managed.roles) expect(loginOf(passwordSecret.name)).toBe(name);
  });
});
