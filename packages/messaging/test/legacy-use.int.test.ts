import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { createMetrics, type Metrics } from '@quittance/runtime/metrics.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { type TestDatabase, testDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { sharedTrust, trustOf } from '@quittance/testkit/trust.ts';
import { createLegacyRecord, type LegacyRecord } from '../src/legacy-use.ts';
import { messagingMigrations } from '../src/schema/service-schema.ts';

let database: TestDatabase;
let pool: Pool;
let metrics: Metrics;
beforeAll(async () => {
  database = await testDatabase({ schema: 'payments', migrations: [messagingMigrations] });
  pool = createPool({
    ...{ url: database.url, schema: 'payments', max: 2, logger: testLogger, applicationName: 'legacy-use-test' },
  });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const records: LegacyRecord[] = [];
beforeEach(() => {
  metrics = createMetrics({ service: 'test', processMetrics: false });
});
afterEach(async () => {
  for (const record of records.splice(0)) await record.close();
  await pool.query('truncate legacy_use');
});

/** A process with a key that still accepts the shared token, unless the test changes that. */
function startRecord(
  trust: Trust = { ...trustOf('payments'), sharedTokens: sharedTrust().sharedTokens },
): LegacyRecord {
  const record = createLegacyRecord({ pool, trust, logger: testLogger, metrics, everyMs: 50 });
  records.push(record);
  record.start();
  return record;
}

const kindsOf = async (record: LegacyRecord) => (await record.read()).legacy.map(({ kind }) => kind);

test('everything accepted without a signature is known to every process of the service, and counted', async () => {
  const [one, other] = [startRecord(), startRecord()];
  one.accepted('unsigned_message');
  one.accepted('unsigned_message');
  one.accepted('shared_token');
  await eventually(async () => expect(await kindsOf(other)).toEqual(['shared_token', 'unsigned_message']));
  const [use] = (await other.read()).legacy;
  expect(use).toEqual({ kind: 'shared_token', last_at: expect.stringMatching(/Z$/), seconds_ago: expect.any(Number) });
  const counted = await metrics.registry.getSingleMetricAsString('trust_legacy_accepted_total');
  expect(counted).toMatch(/kind="unsigned_message".* 2$/m);
  expect(counted).toMatch(/kind="operator_token".* 0$/m);
});

test('what a process has just accepted is shown immediately, and is kept when it stops', async () => {
  const record = createLegacyRecord({ pool, trust: trustOf('payments'), logger: testLogger, metrics });
  record.accepted('operator_token');
  expect(await kindsOf(record)).toEqual(['operator_token']);
  record.accepted('shared_token');
  await record.close();
  expect(await kindsOf(startRecord())).toEqual(['operator_token', 'shared_token']);
});

test('a later use updates its time, and the start of recording does not change', async () => {
  const record = startRecord();
  record.accepted('shared_token');
  await eventually(async () => expect(await record.read()).toMatchObject({ watchedSeconds: expect.any(Number) }));
  await pool.query(`update legacy_use set last_at = now() - interval '2 hours'`);
  record.accepted('shared_token');
  await eventually(async () => {
    const { watchedSeconds, legacy } = await record.read();
    expect(legacy[0]!.seconds_ago).toBeLessThan(3_600);
    expect(watchedSeconds).toBeGreaterThanOrEqual(7_200);
  });
});

test('a process without a key reports it as long as it runs', async () => {
  const record = startRecord(sharedTrust());
  await eventually(async () => expect(await kindsOf(record)).toEqual(['process_without_key']));
  await pool.query('truncate legacy_use');
  await eventually(async () => expect(await kindsOf(record)).toEqual(['process_without_key']));
});

test('a process that accepts no shared token writes nothing', async () => {
  const record = startRecord(trustOf('payments'));
  expect(await record.read()).toEqual({ watchedSeconds: null, legacy: [] });
  const { rows } = await pool.query('select from legacy_use');
  expect(rows).toHaveLength(0);
});
