import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { parseAddress } from '../src/address.ts';
import { isUnavailable } from '../src/errors.ts';
import { migrate } from '../src/migrations/migrate.ts';
import { createPool, ping, type Pool } from '../src/pool.ts';
import { withClient } from '../src/roles/service-databases.ts';
import { checkSession } from '../src/session.ts';

let database: TestDatabase;
const pools: Pool[] = [];

beforeAll(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});
afterAll(() => database.drop());

const withParameters = (parameters: Record<string, string>): string => {
  const url = new URL(database.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

function open(url: string): Pool {
  const pool = createPool({ url, schema: 'shop', max: 1, logger: testLogger, applicationName: 'test' });
  pools.push(pool);
  return pool;
}

const check = (url: string) => checkSession(open(url), 'shop', parseAddress(url));

const show = async (pool: Pool, name: string) =>
  (await pool.query<{ value: string }>('select current_setting($1) as value', [name])).rows[0]?.value;

/** Changes the service's role in this database until the returned function is called. */
async function setForRole(setting: string, value: string): Promise<() => Promise<void>> {
  const { username, pathname } = new URL(database.url);
  const role = `alter role ${username} in database ${pathname.slice(1)}`;
  const run = (text: string) => withClient(database.adminUrl, async (admin) => void (await admin.query(text)));
  await run(`${role} set ${setting} = ${value}`);
  return () => run(`${role} reset ${setting}`);
}

describe('the check at start', () => {
  test('accepts the limits that the connection asks for, and those of the role behind a pooler', async () => {
    await check(database.url);
    await check(withParameters({ pgbouncer: 'true' }));
  });

  test('refuses connections whose own options were dropped, even if the role has the same ones', async () => {
    const dropped = open(withParameters({ pgbouncer: 'true' }));
    await expect(checkSession(dropped, 'shop', parseAddress(database.url))).rejects.toThrow(
      "search_path is not the connection's own: with a pooler such as PgBouncer, add pgbouncer=true to DATABASE_URL",
    );
  });

  test.each([
    ['statement_timeout', '0'],
    ['search_path', 'public'],
  ])('refuses a role whose %s is %s behind a pooler, and says how it is set', async (name, value) => {
    const restore = await setForRole(name, value);
    await expect(check(withParameters({ pgbouncer: 'true' }))).rejects.toThrow(
      new RegExp(`^${name} is "${value}", not "\\w+": run packages/postgres/src/roles/service.sql again`),
    );
    // The connection's own options take precedence.
    await check(database.url);
    await restore();
  });

  test("keeps the options of DATABASE_URL next to the service's own, and they take precedence", async () => {
    const options = '-c work_mem=8MB -c statement_timeout=30s';
    const pool = open(withParameters({ options }));
    await checkSession(pool, 'shop', { isPooled: false, options });
    for (const [name, value] of [
      ['work_mem', '8MB'],
      ['statement_timeout', '30s'],
      ['lock_timeout', '2s'],
      ['search_path', 'shop'],
    ] as const)
      expect(await show(pool, name)).toBe(value);
  });

  test('refuses a server before 15, as does a migration', async () => {
    await withClient(database.adminUrl, async (admin) => {
      await admin.query('create schema older');
      await admin.query(`grant usage on schema older to public`);
      await admin.query(
        `create view older.pg_settings as
         select name, source, case name when 'server_version_num' then '140022' when 'server_version' then '14.22'
                              else setting end as setting from pg_catalog.pg_settings`,
      );
      await admin.query('grant select on older.pg_settings to public');
    });
    const url = withParameters({ options: '-c search_path=older,pg_catalog' });
    const refusal = 'PostgreSQL 14.22 is too old: upgrade it to 15 or newer';
    await expect(check(url)).rejects.toThrow(refusal);
    await expect(migrate({ url, schema: 'shop', migrations: [], logger: testLogger })).rejects.toThrow(refusal);
  });
});

test('a migration has no time limit, whatever the role has', async () => {
  const restore = await setForRole('statement_timeout', `'1ms'`);
  await migrate({
    url: database.url,
    schema: 'shop',
    migrations: [{ directory: new URL('../../messaging/', import.meta.url), ledger: 'slow', version: '1.0.0' }],
    logger: testLogger,
  });
  await restore();
});

test('a server that turns read-only is not ready, and a new connection is made when it takes changes again', async () => {
  const pool = open(database.url);
  await ping(pool);
  const restore = await setForRole('default_transaction_read_only', 'on');
  await withClient(database.adminUrl, (admin) =>
    admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
                  where application_name = 'test' and datname = current_database()`),
  );
  await eventually(() => expect(ping(pool)).rejects.toThrow('the server is read-only'));
  expect(isUnavailable(await ping(pool).catch((error: unknown) => error))).toBe(true);
  await restore();
  await ping(pool);
});

test('through a pooler no statement is named', async () => {
  const named = { name: 'one', text: 'select $1::integer as one', values: [1] };
  const names = async (pool: Pool) => {
    expect((await pool.query(named)).rows).toEqual([{ one: 1 }]);
    return (await pool.query<{ name: string }>('select name from pg_prepared_statements')).rows;
  };
  expect(await names(open(database.url))).toEqual([{ name: 'one' }]);
  expect(await names(open(withParameters({ pgbouncer: 'true' })))).toEqual([]);
});
