import { expect, test } from '@jest/globals';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { testBroker } from '../src/broker.ts';
import { messagingMigrations } from '@quittance/messaging/schema/service-schema.ts';
import { testDatabase } from '../src/database.ts';
import { dropTemplates, TEMPLATES } from '../src/database-template.ts';
import { eventually } from '../src/eventually.ts';
import { testLogger, testMetrics } from '../src/logger.ts';
import { reusedBrokers } from '../src/reused-broker.ts';

test('a test database belongs to a role that can use only its own schema', async () => {
  const mine = await testDatabase({ schema: 'quota', migrations: [] });
  const other = await testDatabase({ schema: 'payments', migrations: [] });
  try {
    await withClient(mine.url, async (client) => {
      await client.query('create table note (id int)');
      const { rows } = await client.query<{ schema: string }>('select current_schema() as schema');
      expect(rows).toEqual([{ schema: 'quota' }]);
      await expect(client.query('create table public.note (id int)')).rejects.toThrow('permission denied');
      await expect(client.query('create schema another')).rejects.toThrow('permission denied');
      await expect(client.query('create role another')).rejects.toThrow('permission denied');
    });
    const trespass = new URL(mine.url);
    trespass.pathname = new URL(other.url).pathname;
    await expect(withClient(trespass.href, async () => undefined)).rejects.toThrow('permission denied for database');
  } finally {
    await mine.drop();
    await other.drop();
  }
});

test('a migrated test database belongs to its role as if the role had migrated it, and its template can be dropped', async () => {
  const ofTheRun = process.env[TEMPLATES];
  const prefix = (process.env[TEMPLATES] = `template_of_test_${process.pid}`);
  const migrated = { schema: 'quota', migrations: [messagingMigrations] };
  const databases = await Promise.all([testDatabase(migrated), testDatabase(migrated)]);
  const templates = () =>
    withClient(databases[0].adminUrl, async (client) => {
      const { rows } = await client.query('select from pg_database where starts_with(datname, $1)', [prefix]);
      return rows.length;
    });
  try {
    for (const { url } of databases) {
      await withClient(url, async (client) => {
        const { rows } = await client.query<{ name: string; owner: string; role: string }>(
          `select relname as name, relowner::regrole::text as owner, current_user as role
             from pg_class where relnamespace = 'quota'::regnamespace`,
        );
        expect(rows.map(({ name }) => name)).toContain('outbox');
        expect(rows.filter(({ owner, role }) => owner !== role)).toEqual([]);
        await client.query('drop table outbox cascade');
      });
    }
    expect(await templates()).toBe(1);
    await dropTemplates(process.env['TEST_POSTGRES_URL']!, prefix);
    expect(await templates()).toBe(0);
  } finally {
    process.env[TEMPLATES] = ofTheRun;
    for (const database of databases) await database.drop();
  }
});

test('each test broker is a separate virtual host', async () => {
  const one = await testBroker();
  const two = await testBroker();
  try {
    expect(new URL(one.url).pathname).not.toBe(new URL(two.url).pathname);
    await one.manage('PUT', `/api/queues/${one.vhost}/letters`, {
      durable: true,
      arguments: { 'x-queue-type': 'quorum' },
    });
    expect(await one.manage('GET', `/api/queues/${two.vhost}`)).toEqual([]);
  } finally {
    await one.close();
    await two.close();
  }
});

test('a reused broker has no messages of its previous use', async () => {
  const queue = 'payments.transfer-observed';
  const brokers = reusedBrokers();
  const first = await brokers.open();
  const service = connectBroker({ url: first.url, name: 'test', logger: testLogger, metrics: testMetrics });
  await eventually(() => expect(service.ready()).toBe(true));
  const get = { count: 1, ackmode: 'ack_requeue_true', encoding: 'auto' };
  const messagesOf = ({ vhost, manage }: typeof first) => manage('POST', `/api/queues/${vhost}/${queue}/get`, get);
  await first.manage('POST', `/api/exchanges/${first.vhost}/amq.default/publish`, {
    routing_key: queue,
    payload: '{}',
    payload_encoding: 'string',
    properties: {},
  });
  await eventually(async () => expect(await messagesOf(first)).toHaveLength(1));
  await service.close();
  await first.close();

  const second = await brokers.open();
  expect(second.vhost).toBe(first.vhost);
  expect(await messagesOf(second)).toEqual([]);
  await second.close();
  await brokers.close();
});
