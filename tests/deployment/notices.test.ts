import { expect, test } from '@jest/globals';
import { notifierSchema } from '@quittance/postgres/roles/service-databases.ts';
import { isSignedBy, parsePublicKeys, signerOfKey } from '@quittance/runtime/trust.ts';
import { parseNotifier } from '../../services/webhook-dispatcher/src/sending/private-targets.ts';
import { notifierSettings, readNotifierSettings, withHooksFiles } from '../support/service-settings.ts';
import { base, notices, readCompose, singleWithNotices } from './support/compose.ts';
import { imageEnvironment } from './support/dockerfile.ts';
import { makeEnvironment } from './support/environment-file.ts';
import { notForProduction } from './support/settings-agreement.ts';

const environment = makeEnvironment();
const compose = readCompose([base, notices], environment);
const inOneProcess = readCompose([base, ...singleWithNotices], environment);
const told = (name: string, { services } = compose): Record<string, string> => ({
  ...imageEnvironment,
  ...services[name]!.environment,
});

test('docker-compose.notices.yml gives the notifier every setting that it reads and no others, and values with which it starts', () => {
  const { known } = notifierSettings();
  const settable = known.filter((name) => name !== 'HOST' && !notForProduction.includes(name));
  expect(Object.keys(told('notifier')).sort()).toEqual(settable);
  withHooksFiles((files) => expect(() => readNotifierSettings({ ...told('notifier'), ...files })).not.toThrow());
});

test('leads webhook-dispatcher to the fixed address of the notifier, by the name of its certificate', () => {
  const { WEBHOOK_NOTIFIER: target, WEBHOOK_PRIVATE_TARGETS_CA: authority } = told('webhook-dispatcher');
  const { host, address, port } = parseNotifier(target!, []);
  expect(compose.services['notifier']!.networks!['notices']).toEqual({ ipv4_address: address });
  expect(told('notifier')['HOOKS_PORT']).toBe(String(port));
  expect(told('notices-certificate')['NOTICES_HOST']).toBe(host);
  expect(authority).toBe('/notices/certificates/ca.pem');
  expect(compose.networks['notices']).toMatchObject({ internal: true });
});

test('in one process, does for it what it does for webhook-dispatcher alone, and leads the notifier to its port', () => {
  const [separate, shared] = [compose.services['webhook-dispatcher']!, inOneProcess.services['single']!];
  for (const name of ['WEBHOOK_NOTIFIER', 'WEBHOOK_PRIVATE_TARGETS_CA'])
    expect([name, shared.environment![name]]).toEqual([name, separate.environment![name]]);
  expect(shared.volumes).toEqual(separate.volumes);
  expect(shared.networks).toHaveProperty('notices');
  expect(shared.depends_on).toHaveProperty('notices-certificate');
  const { WEBHOOK_DISPATCHER_PORT: port } = told('single', inOneProcess);
  expect(told('notifier', inOneProcess)['WEBHOOK_DISPATCHER_URL']).toBe(`http://single:${port}`);
  // Everything else about the notifier is the same.
  const { environment: _, ...rest } = inOneProcess.services['notifier']!;
  expect(rest).toEqual({ ...compose.services['notifier'], environment: undefined });
});

test('prepares the schema of the notifier with its own role, and migrates it before it starts', () => {
  const { database, 'migrate-notifier': migration, notifier } = compose.services;
  expect(database!.environment).toHaveProperty('NOTIFIER_DATABASE_PASSWORD');
  expect(migration!.environment!['DATABASE_URL']).toBe(notifier!.environment!['DATABASE_URL']);
  expect(migration!.environment!['DATABASE_URL']).toContain(`//${notifierSchema.role}:`);
  expect(notifier!.depends_on).toHaveProperty('migrate-notifier');
});

test('trusts the key of the notifier', () => {
  const keys = parsePublicKeys(environment['TRUSTED_KEYS']!);
  const signed = signerOfKey(environment['NOTIFIER_SIGNING_KEY']!)('text');
  expect(isSignedBy(keys, 'notifier', 'text', signed)).toBe(true);
});
