import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { isUnavailable } from '../src/errors.ts';
import { createPool, ping, type Pool } from '../src/pool.ts';

let database: TestDatabase;
const pools: Pool[] = [];

beforeAll(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});
afterAll(() => database.drop());

function open(options: Partial<Parameters<typeof createPool>[0]> = {}): Pool {
  const pool = createPool({
    url: database.url,
    schema: 'shop',
    max: 2,
    logger: testLogger,
    applicationName: 'test',
    ...options,
  });
  pools.push(pool);
  return pool;
}

const failure = (run: Promise<unknown>) => run.then(() => null).catch((error: unknown) => error);

describe('a pool', () => {
  test('works in its own schema, in UTC, with every time limit set', async () => {
    const { rows } = await open().query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in
         ('search_path', 'TimeZone', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'application_name')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      search_path: 'shop',
      TimeZone: 'UTC',
      statement_timeout: '5000',
      lock_timeout: '2000',
      idle_in_transaction_session_timeout: '10000',
      application_name: 'test',
    });
  });

  test('rounds no integer, no decimal and no day', async () => {
    const { rows } = await open().query(
      `select 9007199254740993::int8 as big, '{9007199254740993,null}'::int8[] as bigs, '{{1},{2}}'::int8[] as nested,
              1.10::numeric as decimal, '2025-03-30'::date as day, '2025-03-30 01:02:03.004+02'::timestamptz as moment`,
    );
    expect(rows[0]).toEqual({
      big: 9007199254740993n,
      bigs: [9007199254740993n, null],
      nested: [[1n], [2n]],
      decimal: '1.10',
      day: '2025-03-30',
      moment: new Date('2025-03-29T23:02:03.004Z'),
    });
  });

  test('refuses a schema that is not a plain name', () => {
    expect(() => open({ schema: 'shop -c work_mem=1' })).toThrow('not a schema name');
  });

  test('that is exhausted fails as unavailable instead of queueing without end', async () => {
    const metrics = createMetrics({ service: 'test', processMetrics: false });
    const pool = open({ max: 1, metrics });
    const held = await pool.connect();
    const waiting = failure(pool.query('select 1'));
    const { text } = await metrics.render();
    expect(text).toContain('db_pool_connections{pool="test",state="in_use",service="test"} 1');
    expect(text).toContain('db_pool_waiting{pool="test",service="test"} 1');
    expect(isUnavailable(await waiting)).toBe(true);
    held.release();
    await ping(pool);
  });

  test('survives the loss of idle and of held connections without an unhandled error', async () => {
    const pool = open();
    const admin = open({ url: database.adminUrl, applicationName: 'admin' });
    const held = await pool.connect();
    await pool.query('select 1');
    // Only those of this database: other files have connections with that name on the same server.
    await admin.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where application_name = 'test' and datname = current_database()`,
    );
    expect(isUnavailable(await failure(held.query('select 1')))).toBe(true);
    held.release(true);
    await eventually(() => ping(pool));
  });

  test('that is cut off from its server fails as unavailable, and recovers', async () => {
    const proxy = await faultProxy({ target: database.url });
    try {
      const pool = open({ url: proxy.url });
      await ping(pool);
      proxy.cut();
      expect(isUnavailable(await failure(ping(pool)))).toBe(true);
      proxy.restore();
      await eventually(() => ping(pool));
    } finally {
      await proxy.close();
    }
  });

  test('whose server went silent gives up by itself, and recovers', async () => {
    const proxy = await faultProxy({ target: database.url });
    try {
      const pool = open({ url: proxy.url, max: 1 });
      await ping(pool);
      proxy.stall();
      // An open connection notices it through the query's own limit, a new one through the connection timeout.
      expect(await failure(ping(pool))).toMatchObject({ message: 'Query read timeout' });
      expect(isUnavailable(await failure(ping(pool)))).toBe(true);
      proxy.restore();
      await eventually(() => ping(pool));
    } finally {
      await proxy.close();
    }
  });

  test.each([
    ['a port nobody listens on', (url: URL) => void (url.port = '1')],
    ['a host that does not exist', (url: URL) => void (url.hostname = 'nowhere.invalid')],
    ['a wrong password', (url: URL) => void (url.password = 'wrong')],
    ['a database that does not exist', (url: URL) => void (url.pathname = '/nothing')],
  ])('with %s is unavailable', async (_what, change) => {
    const url = new URL(database.url);
    change(url);
    expect(isUnavailable(await failure(ping(open({ url: url.href }))))).toBe(true);
  });
});
