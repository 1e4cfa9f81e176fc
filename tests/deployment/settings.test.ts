import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serviceNames, settingPrefix, type ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { readFrameConfig, readMigrationConfig } from '@quittance/runtime/service-settings.ts';
import { readConfig as readConsoleConfig } from '../../services/console/src/config.ts';
import { readSettings, settingsOf } from '../support/service-settings.ts';
import { base, external, readCompose, single, type Compose } from './support/compose.ts';
import { imageEnvironment } from './support/dockerfile.ts';
import { makeEnvironment } from './support/environment-file.ts';
import { judgeSettings, notForProduction, type SettingsByService } from './support/settings-agreement.ts';

const environment = makeEnvironment();
const compose = readCompose([base], environment);
const environmentOf = (from: Compose, service: string) => ({
  ...imageEnvironment,
  ...from.services[service]!.environment,
});

const inOneProcess = environmentOfSingle();

/** The settings that each way of running sets. Another way is another line. */
const ways: [string, SettingsByService][] = [
  ['docker-compose.yml', settingsIn(compose)],
  ['docker-compose.external.yml', settingsIn(readCompose([base, external], environment))],
  [
    'docker-compose.single.yml',
    new Map([...inOneProcess].map(([service, told]) => [service, new Set(Object.keys(told))])),
  ],
];

describe.each(ways)('%s', (_, given) => {
  test('gives each service its required settings, none that it does not know, and none that are for tests', () => {
    expect(judgeSettings(given)).toEqual([]);
  });
});

describe('docker-compose.yml', () => {
  test.each(serviceNames)('lets an operator set every setting of %s', (service) => {
    const settable = settingsOf(service).known.filter((name) => name !== 'HOST' && !notForProduction.includes(name));
    expect(Object.keys(environmentOf(compose, service)).sort()).toEqual(settable);
  });

  test.each(serviceNames)('gives %s values with which it starts', (service) => {
    const env: NodeJS.ProcessEnv = environmentOf(compose, service);
    // In the container, this is the compose file's path.
    if (env['NETWORKS_FILE'] !== undefined)
      env['NETWORKS_FILE'] = join(repositoryRoot, compose.configs['networks']!.file);
    expect(() => readSettings(service, env)).not.toThrow();
    expect(env['NODE_ENV']).toBe('production');
  });

  test('gives the console values with which it starts, and no secret', () => {
    const env = environmentOf(compose, 'console');
    const mounted = { ...env, NETWORKS_FILE: join(repositoryRoot, compose.configs['networks']!.file) };
    expect(() => readConsoleConfig(mounted)).not.toThrow();
    expect(Object.keys(env).filter((name) => /TOKEN|KEY|PASSWORD|DATABASE|AMQP/.test(name))).toEqual([]);
  });

  test.each(serviceNames)('gives the migrations of %s only what they read', (service) => {
    const asked = new Set<string>();
    const env = environmentOf(compose, `migrate-${service}`);
    const watched = new Proxy(env, { get: (target, name: string) => (asked.add(name), target[name]) });
    readMigrationConfig(watched);
    readFrameConfig(watched);
    const own = Object.keys(compose.services[`migrate-${service}`]!.environment ?? {});
    expect(own.filter((name) => !asked.has(name))).toEqual([]);
  });
});

describe('docker-compose.single.yml', () => {
  test.each(serviceNames)(
    'gives %s the settings of docker-compose.yml, except the addresses of the services',
    (service) => {
      const elsewhere = /^(?:PORT|(?:PAYMENTS|QUOTA|CHAIN_WATCHER|WEBHOOK_DISPATCHER)_URL)$/;
      const comparable = (told: Record<string, string>) =>
        Object.fromEntries(Object.entries(told).filter(([name]) => !elsewhere.test(name)));
      const told = inOneProcess.get(service)!;
      expect(comparable(told)).toEqual(comparable(environmentOf(compose, service)));
      for (const [name, url] of Object.entries(told).filter(([setting]) => setting.endsWith('_URL'))) {
        const other = serviceNames.find((one) => name === `${settingPrefix(one)}URL`);
        if (other !== undefined) expect(url).toBe(`http://127.0.0.1:${inOneProcess.get(other)!['PORT']!}`);
      }
    },
  );
});

describe('the comparison itself', () => {
  const complete = (): Map<ServiceName, Set<string>> =>
    new Map(serviceNames.map((service) => [service, new Set(settingsOf(service).required)]));

  test('accepts exactly the required settings', () => expect(judgeSettings(complete())).toEqual([]));

  test('reports a missing setting, an unknown one, one for tests, and a missing service', () => {
    const given = complete();
    given.get('payments')!.delete('QUOTA_URL');
    given.get('quota')!.add('QUOTA_LIMIT');
    given.get('api-gateway')!.add('FAULT_POINT');
    given.get('webhook-dispatcher')!.add('WEBHOOK_LOCAL_RECEIVER');
    given.delete('chain-watcher');
    expect(judgeSettings(given)).toEqual([
      'api-gateway: FAULT_POINT is not for production',
      'payments: QUOTA_URL is required and missing',
      'chain-watcher: is missing',
      'webhook-dispatcher: WEBHOOK_LOCAL_RECEIVER is not for production',
      'quota: QUOTA_LIMIT is unknown',
    ]);
  });
});

function settingsIn(from: Compose): SettingsByService {
  return new Map(serviceNames.map((service) => [service, new Set(Object.keys(environmentOf(from, service)))]));
}

/**
 * The settings that each of the five reads from the shared environment: those it knows, by its own names, and those that none of them
 * knows.
 */
function environmentOfSingle(): Map<ServiceName, Record<string, string>> {
  const given = Object.entries(environmentOf(readCompose([base, single], environment), 'single'));
  const known = new Map(serviceNames.map((service) => [service, new Set(settingsOf(service).known)]));
  const nameFor = (service: ServiceName, name: string): string => {
    const own = name.startsWith(settingPrefix(service)) ? name.slice(settingPrefix(service).length) : name;
    return known.get(service)!.has(own) ? own : name;
  };
  return new Map(
    serviceNames.map((service) => {
      const told = given
        .map(([name, value]) => [nameFor(service, name), value] as const)
        .filter(
          ([name]) =>
            known.get(service)!.has(name) || !serviceNames.some((one) => known.get(one)!.has(nameFor(one, name))),
        );
      return [service, Object.fromEntries(told)];
    }),
  );
}
