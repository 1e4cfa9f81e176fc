import { createHash, randomBytes } from 'node:crypto';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { addressOf, prepareSchema, serviceSchemas } from '@quittance/postgres/roles/service-databases.ts';
import { makeUser } from '@quittance/messaging/broker/set-up.ts';
import { readOrMakeSecrets, type StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../support/database.ts';
import { journeyStack } from '../support/journey-stack.ts';
import { management, virtualHostOf } from '../support/management.ts';
import { Shop } from '../support/shop.ts';
import type { Fault } from './fault.ts';
import { judge } from './rolling/judge.ts';
import { describeTraffic, emptiness, roll, type Rolling } from './rolling/roll.ts';
import { replaceSigningKeys } from './rolling/signing-keys.ts';
import { startTraffic } from './rolling/traffic.ts';

const SHOPS = 10;

export const fault: Fault = {
  name: 'rolling-secrets',
  about:
    'signing keys, the webhook encryption key, the database passwords and the AMQP users replaced by rolling restarts of two replicas ' +
    'of each service under a steady load: no request fails, every event is signed, and the old secrets are useless afterwards',
  async run({ say, onEnd }) {
    let directory: StackDirectory | undefined;
    const stack = await journeyStack({ replicas: 2, prepare: async (place) => void (directory = place) });
    onEnd(() => stack.close());
    if (directory === undefined) throw new Error('the stack has no directory');
    const { webhook_encryption_key: encryptionKey } = await readOrMakeSecrets(directory);
    const traffic = await startTraffic(stack, { shops: SHOPS });
    const scene = { stack, traffic, say };
    const broken = [
      ...(await replaceDatabaseLogins(scene)),
      ...(await replaceAmqpUsers(scene)),
      ...(await replaceEncryptionKey(scene, encryptionKey)),
      ...(await replaceSigningKeys(scene)),
    ];
    await traffic.stop();
    broken.push(...traffic.late.map(({ line }) => `a request was late: ${line}`));
    broken.push(...(await judge(stack, traffic)), ...emptiness(traffic));
    return { broken, lines: describeTraffic(traffic) };
  },
};

/** A second login that acts as the role. Once every process uses it, the first one may no longer log in. */
async function replaceDatabaseLogins(scene: Rolling): Promise<string[]> {
  const { stack, say } = scene;
  const adminUrl = stack.file.postgres_url;
  const logins = Object.fromEntries(
    serviceNames.map((name) => [
      name,
      { role: `${serviceSchemas[name].role}_2`, password: randomBytes(12).toString('hex') },
    ]),
  ) as Record<ServiceName, { role: string; password: string }>;
  for (const name of serviceNames) {
    const { username: role, password } = new URL(stack.backends.databaseUrls[name]);
    await prepareSchema({ adminUrl, schema: serviceSchemas[name].schema, role, password, login: logins[name] });
  }
  say('  the second logins of all roles');
  const settings = (name: ServiceName) => ({
    DATABASE_URL: addressOf(stack.backends.databaseUrls[name], logins[name]),
  });
  const broken = await roll({ ...scene, settings });
  const left = await withDatabase(adminUrl, async (db) => {
    for (const name of serviceNames) await db.query(`alter role ${serviceSchemas[name].role} nologin`);
    const { rows } = await db.query<{ usename: string }>(
      'select distinct usename from pg_stat_activity where usename = any($1)',
      [serviceNames.map((name) => serviceSchemas[name].role)],
    );
    return rows;
  });
  return [...broken, ...left.map(({ usename }) => `${usename} is still logged in with its first password`)];
}

/** A second user for each service with the same permissions; then the first ones are deleted. */
async function replaceAmqpUsers(scene: Rolling): Promise<string[]> {
  const { stack, say } = scene;
  const password = randomBytes(12).toString('hex');
  const second = (name: ServiceName): string => `${name}_2`;
  for (const name of serviceNames) {
    await makeUser(stack.file.management_url!, virtualHostOf(stack.file), { name: second(name), password, does: name });
  }
  say('  second AMQP users of all services');
  const settings = (name: ServiceName) => ({
    AMQP_URL: Object.assign(new URL(stack.file.amqp_urls[name]), { username: second(name), password }).href,
  });
  const broken = await roll({ ...scene, settings });
  await eventually(async () => {
    const connections = await management<{ user: string }[]>(stack.file, 'GET', '/connections?columns=user');
    const others = connections.filter(({ user }) => serviceNames.some((name) => name === user));
    if (others.length > 0) throw new Error(`${others.length} connections of a first user`);
  });
  for (const name of serviceNames) await management(stack.file, 'DELETE', `/users/${name}`);
  return broken;
}

/**
 * Accepts the new key, encrypts with it, removes the old one. A signing key is replaced after each restart, so that processes of both kinds
 * encrypt one.
 */
async function replaceEncryptionKey(scene: Rolling, old: string): Promise<string[]> {
  const { stack, say } = scene;
  const key = randomBytes(32).toString('base64');
  const shop = await Shop.open(stack);
  const afterEach = async (): Promise<void> => {
    const answer = await shop.call<{ key_id: string; signing_key: string }>('POST', '/merchant/webhook/rotate-key');
    if (answer.status !== 200) throw new Error(`a signing key could not be replaced: ${answer.status} ${answer.text}`);
    await stack.backends.receiver.trust(answer.body.key_id, answer.body.signing_key);
  };
  const step = (what: string, WEBHOOK_ENCRYPTION_KEY: string, WEBHOOK_ENCRYPTION_KEY_PREVIOUS: string) => {
    say(`  the encryption key: ${what}`);
    const settings = () => ({ WEBHOOK_ENCRYPTION_KEY, WEBHOOK_ENCRYPTION_KEY_PREVIOUS });
    return roll({ ...scene, services: ['webhook-dispatcher'], settings, afterEach });
  };
  const broken = [...(await step('accept the new one', old, key)), ...(await step('seal with the new one', key, old))];
  const id = createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 16);
  await eventually(() =>
    withDatabase(stack.file.postgres_url, async (db) => {
      const text = 'select from webhooks.signing_key where retired_at is null and encryption_key_id <> $1';
      const { rowCount } = await db.query(text, [id]);
      if (rowCount !== 0) throw new Error(`${rowCount} signing keys are not encrypted with the new key`);
    }),
  );
  return [...broken, ...(await step('forget the old one', key, ''))];
}
