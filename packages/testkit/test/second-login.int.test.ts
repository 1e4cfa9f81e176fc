import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOf, prepareSchema, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { testDatabase, type TestDatabase } from '../src/database.ts';
import { testLogger } from '../src/logger.ts';
import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import { createPool } from '@quittance/postgres/pool.ts';

const schema = 'shop';
const second = { role: `second_${randomBytes(6).toString('hex')}`, password: 'p2' };
let database: TestDatabase;
let url: string;

beforeAll(async () => {
  database = await testDatabase({ schema, migrations: [] });
  const { username: role, password } = new URL(database.url);
  await prepareSchema({ adminUrl: database.adminUrl, schema, role, password, login: second });
  url = addressOf(database.url, second);
});
afterAll(async () => {
  await database.drop();
  await withClient(String(process.env.TEST_POSTGRES_URL), (admin) => admin.query(`drop role ${second.role}`));
});

async function query<T extends object>(as: string, text: string): Promise<T[]> {
  const pool = createPool({ url: as, schema, max: 1, logger: testLogger, applicationName: 'test' });
  try {
    return (await pool.query<T>(text)).rows;
  } finally {
    await pool.end();
  }
}

describe("a service's second login", () => {
  test('acts as the role of the service from its first statement on', async () => {
    const { username } = new URL(database.url);
    expect(await query(url, `select session_user::text as login, current_user::text as role`)).toEqual([
      { login: second.role, role: username },
    ]);
  });

  test('migrates as the role of the service, and both logins can use what the other created', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quittance-migrations-'));
    const migrations = [{ directory, ledger: 'migrations', version: '0.1.0' }];
    await mkdir(join(directory, 'migrations'));
    await writeFile(join(directory, 'migrations', '0001_one.sql'), 'create table one (id int)');
    await migrate({ url, schema, migrations, logger: testLogger });
    await writeFile(join(directory, 'migrations', '0002_two.sql'), 'alter table one add column name text');
    await migrate({ url: database.url, schema, migrations, logger: testLogger });
    await writeFile(join(directory, 'migrations', '0003_three.sql'), 'alter table one alter column name set not null');
    await migrate({ url, schema, migrations, logger: testLogger });
    await rm(directory, { recursive: true });
    const owners = await query<{ tableowner: string }>(
      url,
      `select distinct tableowner from pg_tables where schemaname = 'shop'`,
    );
    expect(owners).toEqual([{ tableowner: new URL(database.url).username }]);
    await query(database.url, `insert into one values (1, 'first')`);
    expect(await query(url, 'select name from one')).toEqual([{ name: 'first' }]);
  });

  test('has no permission that the service does not have', async () => {
    for (const text of ['create temporary table t (id int)', 'create table public.t (id int)', 'create role r']) {
      await expect(query(url, text)).rejects.toThrow('permission denied');
    }
  });

  test('works when the first one can no longer log in', async () => {
    const { username } = new URL(database.url);
    await withClient(database.adminUrl, (admin) => admin.query(`alter role ${username} nologin`));
    await expect(query(database.url, 'select 1')).rejects.toThrow('not permitted to log in');
    expect(await query(url, 'select current_user::text as role')).toEqual([{ role: username }]);
  });
});
