import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { migrate } from '../src/migrate.ts';
import { createPool, type Pool } from '../src/pool.ts';

let database: TestDatabase;
let pool: Pool;
let directory: string;

beforeEach(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
  pool = createPool({ url: database.url, schema: 'shop', max: 2, logger: testLogger, applicationName: 'test' });
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  await rm(directory, { recursive: true });
});

const write = (name: string, sql: string) => writeFile(join(directory, name), sql);
const run = (ledger = 'migrations', from: string | URL = directory) =>
  migrate({ url: database.url, schema: 'shop', migrations: [{ directory: from, ledger }], logger: testLogger });
const applied = async (ledger = 'migrations') =>
  (await pool.query<{ name: string }>(`select name from ${ledger} order by id`)).rows.map(({ name }) => name);

describe('migrating', () => {
  test('applies new files in order, and each only once', async () => {
    await write('0001_items.sql', 'create table items (name text)');
    await write('0002_stock.sql', `alter table items add stock int; -- {not} a template`);
    await run();
    await run();
    await write('0003_price.sql', 'alter table items add price numeric;');
    await run('migrations', pathToFileURL(directory));
    expect(await applied()).toEqual(['0001_items', '0002_stock', '0003_price']);
    await pool.query(`insert into shop.items values ('a', 1, 2.5)`);
  });

  test('by several processes at once applies everything once', async () => {
    await write(
      '0001_items.sql',
      `create table items (name text); select pg_sleep(0.1); insert into items values ('a');`,
    );
    await Promise.all([run(), run(), run(), run()]);
    expect((await pool.query('select * from items')).rowCount).toBe(1);
    expect(await applied()).toEqual(['0001_items']);
  });

  test('keeps a ledger for each source', async () => {
    await write('0001_items.sql', 'create table if not exists items (name text)');
    await run('one');
    await run('two');
    expect([await applied('one'), await applied('two')]).toEqual([['0001_items'], ['0001_items']]);
  });

  test('that fails in one file leaves nothing of the run behind', async () => {
    await write('0001_items.sql', 'create table items (name text)');
    await write('0002_broken.sql', 'create table more (name text); select 1/0;');
    await expect(run()).rejects.toThrow('division by zero');
    const { rows } = await pool.query(`select to_regclass('items') as items, to_regclass('more') as more`);
    expect(rows).toEqual([{ items: null, more: null }]);
    await write('0002_broken.sql', 'create table more (name text);');
    await run();
    expect(await applied()).toEqual(['0001_items', '0002_broken']);
  });

  test('refuses a file that should have come before one already applied', async () => {
    await write('0002_items.sql', 'create table items (name text)');
    await run();
    await write('0001_late.sql', 'create table late (name text)');
    await expect(run()).rejects.toThrow('0001_late is preceding already run migration 0002_items');
  });

  test.each([['1_items.sql'], ['0001-items.sql'], ['0001_items.ts'], ['readme.md']])(
    'refuses the file name %s',
    async (name) => {
      await write(name, '');
      await expect(run()).rejects.toThrow('is not named NNNN_name.sql');
    },
  );

  test('refuses two files with one number', async () => {
    await write('0001_a.sql', '');
    await write('0001_b.sql', '');
    await expect(run()).rejects.toThrow('two migrations numbered 0001');
  });

  test("stays inside the role's own schema", async () => {
    await write('0001_outside.sql', 'create table public.items (name text)');
    await expect(run()).rejects.toThrow('permission denied for schema public');
  });
});
