import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { migrate } from '../src/migrations/migrate.ts';
import { createPool, type Pool } from '../src/pool.ts';

let database: TestDatabase;
let pool: Pool;
let directory: string;

beforeEach(async () => {
  database = await testDatabase({ schema: 'shop', migrations: [] });
  pool = createPool({ url: database.url, schema: 'shop', max: 3, logger: testLogger, applicationName: 'test' });
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await Promise.all(['migrations', 'sql'].map((folder) => mkdir(join(directory, folder))));
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  await rm(directory, { recursive: true });
});

/** A pool ends sessions that are idle in a transaction for ten seconds, which may happen on a busy machine. */
const mayBeIdle = 'set local idle_in_transaction_session_timeout = 0';

const write = (name: string, sql: string) => writeFile(join(directory, 'migrations', name), sql);
const writeFunction = (name: string, sql: string) => writeFile(join(directory, 'sql', name), sql);
const run = ({
  ledger = 'migrations',
  version = '0.1.0',
  from = directory,
}: { ledger?: string; version?: string; from?: string | URL } = {}) =>
  migrate({
    url: database.url,
    schema: 'shop',
    migrations: [{ directory: from, ledger, version }],
    logger: testLogger,
  });
const applied = async (ledger = 'migrations') =>
  (await pool.query<{ name: string }>(`select name from ${ledger} order by id`)).rows.map(({ name }) => name);

describe('migrating', () => {
  test('applies new files in order, and each only once', async () => {
    await write('0001_items.sql', 'create table items (name text)');
    await write('0002_stock.sql', `alter table items add stock int; -- {not} a template`);
    await run();
    await run();
    await write('0003_price.sql', 'alter table items add price numeric;');
    await run({ from: pathToFileURL(directory) });
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
    await run({ ledger: 'one' });
    await run({ ledger: 'two' });
    expect([await applied('one'), await applied('two')]).toEqual([['0001_items'], ['0001_items']]);
  });

  test('that fails in one file rolls it back completely, and keeps those before it', async () => {
    await write('0001_items.sql', 'create table items (name text)');
    await write('0002_broken.sql', 'create table more (name text); select 1/0;');
    await expect(run()).rejects.toThrow('division by zero');
    const { rows } = await pool.query(`select to_regclass('items') as items, to_regclass('more') as more`);
    expect(rows).toEqual([{ items: 'items', more: null }]);
    expect(await applied()).toEqual(['0001_items']);
    await write('0002_broken.sql', 'create table more (name text);');
    await run();
    expect(await applied()).toEqual(['0001_items', '0002_broken']);
  });

  test('refuses a file that belongs before an applied one', async () => {
    await write('0002_items.sql', 'create table items (name text)');
    await run();
    await write('0001_late.sql', 'create table late (name text)');
    await expect(run()).rejects.toThrow('0001_late is preceding already run migration 0002_items');
  });

  test('behind a long reader blocks no writer, builds its index when the reader ends, and rebuilds one that failed', async () => {
    await write('0001_items.sql', 'create table items (name text); create table read (name text);');
    await run();
    const [reader, writer] = [await pool.connect(), await pool.connect()];
    try {
      await reader.query(`begin isolation level repeatable read; ${mayBeIdle}`);
      await reader.query('select from read');
      // The remains of an interrupted build.
      await writer.query('create index items_name on items (name)');
      await write('0002_price.sql', 'alter table items add price int not null default 1');
      await write('0003_name.sql', '-- By name.\ncreate index concurrently items_name on items (name, price);');
      let ended = false;
      const migrating = run().finally(() => (ended = true));
      // The build waits for the reader's snapshot; a writer of the same table does not wait for the build.
      const waiting = `select from pg_stat_activity where application_name = 'migrate shop' and datname = current_database() and wait_event_type = 'Lock' and query ilike '%concurrently%'`;
      await eventually(async () => expect((await pool.query(waiting)).rowCount).toBe(1));
      await writer.query(`set lock_timeout = 500`);
      await writer.query(`insert into items values ('a', 2)`);
      expect(ended).toBe(false);
      await reader.query('commit');
      await migrating;
      expect(await applied()).toEqual(['0001_items', '0002_price', '0003_name']);
      const { rows } = await writer.query(
        `select indisvalid, pg_get_indexdef(indexrelid) ~ 'price' as is_new from pg_index where indexrelid = 'items_name'::regclass`,
      );
      expect(rows).toEqual([{ indisvalid: true, is_new: true }]);
    } finally {
      reader.release(true);
      writer.release(true);
    }
  });

  test('builds an index while another process waits to migrate, without waiting for that process', async () => {
    await write('0001_items.sql', 'create table items (name text)');
    await run();
    const writer = await pool.connect();
    try {
      await writer.query(`begin; ${mayBeIdle}`);
      await writer.query(`insert into items values ('a')`);
      await write('0002_name.sql', 'create index concurrently items_name on items (name)');
      const untilOneMigrates = (how: string) =>
        eventually(async () => {
          const { rowCount } = await pool.query(
            `select from pg_stat_activity where application_name = 'migrate shop' and datname = current_database() and ${how}`,
          );
          expect(rowCount).toBe(1);
        });
      const building = run();
      await untilOneMigrates(`wait_event_type = 'Lock' and query ilike '%concurrently%'`);
      // Its snapshot would be older than the index if its statement lasted until the end of the build.
      const waiting = run();
      await untilOneMigrates(`query ilike '%advisory_lock%'`);
      await writer.query('commit');
      await Promise.all([building, waiting]);
      expect(await applied()).toEqual(['0001_items', '0002_name']);
    } finally {
      writer.release(true);
    }
  });

  test('retries when a table is in use, and gives way to statements that wait behind it', async () => {
    await write('0001_items.sql', 'create table items (name text)');
    await run();
    const [reader, writer] = [await pool.connect(), await pool.connect()];
    try {
      await reader.query(`begin; ${mayBeIdle}`);
      await reader.query('select from items');
      await write('0002_price.sql', 'alter table items add price int');
      const migrating = run();
      // Each insert comes behind the migration's wait or between two waits. None may wait longer than one of them.
      await writer.query('set lock_timeout = 10000');
      for (let count = 0; count < 40; count += 1) {
        await writer.query(`insert into items (name) values ('a')`);
        await setTimeout(25);
      }
      const { rows } = await pool.query(`select count(*)::int as count from items`);
      expect(rows).toEqual([{ count: 40 }]);
      await reader.query('commit');
      await migrating;
      await writer.query('select price from items');
    } finally {
      reader.release(true);
      writer.release(true);
    }
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

describe('the functions of a schema', () => {
  const price = (body: string) =>
    `create or replace function price(item text) returns int language sql as $$ ${body} $$;`;
  const priceOf = async (item: string) =>
    (await pool.query<{ price: number }>('select price($1)', [item])).rows[0]?.price;
  const appliedAt = async () =>
    (await pool.query<{ applied_at: Date }>('select applied_at from applied_functions')).rows[0]?.applied_at;

  test('are defined after the tables, and again when their text changes', async () => {
    await write('0001_items.sql', 'create table items (name text, price int)');
    await writeFunction('price.sql', price('select max(price) from items where name = item'));
    await run();
    await pool.query(`insert into items values ('a', 3)`);
    expect(await priceOf('a')).toBe(3);
    await writeFunction('price.sql', price('select max(price) * 2 from items where name = item'));
    await run();
    expect(await priceOf('a')).toBe(6);
  });

  test('are unchanged while their text is the same', async () => {
    await writeFunction('price.sql', price('select 1'));
    await run();
    const before = await appliedAt();
    await run();
    expect(await appliedAt()).toEqual(before);
  });

  test('may call each other in any order', async () => {
    await writeFunction('a_total.sql', `create function a_total() returns int language sql as 'select price(null)'`);
    await writeFunction('price.sql', price('select 5'));
    await run();
    expect((await pool.query('select a_total() as total')).rows).toEqual([{ total: 5 }]);
  });

  test('may change their signature in one step, by a file that drops the old one first', async () => {
    await writeFunction('price.sql', price('select 1'));
    await run();
    await writeFunction(
      'price.sql',
      `drop function if exists price(text);
       create or replace function price(item text, day date default null) returns numeric language sql as 'select 1.5';`,
    );
    await run();
    expect(await priceOf('a')).toBe('1.5');
    expect((await pool.query(`select from pg_proc where proname = 'price'`)).rowCount).toBe(1);
  });

  test('all stay unchanged when one of them is wrong, and the tables are applied', async () => {
    await writeFunction('price.sql', price('select 1'));
    await run();
    await write('0001_items.sql', 'create table items (name text)');
    await writeFunction('price.sql', price('select 2'));
    await writeFunction('stock.sql', `create function stock() returns int language sql as 'select n from nowhere'`);
    await expect(run()).rejects.toThrow('relation "nowhere" does not exist');
    expect(await priceOf('a')).toBe(1);
    await pool.query('select from items');
  });

  test('of an earlier version do not replace those of a later one', async () => {
    await writeFunction('price.sql', price('select 10'));
    await run({ version: '0.10.0' });
    await writeFunction('price.sql', price('select 9'));
    await run({ version: '0.9.0' });
    expect(await priceOf('a')).toBe(10);
  });

  test('return to an earlier text in a later version', async () => {
    for (const [version, body] of [
      ['0.1.0', 'select 1'],
      ['0.2.0', 'select 2'],
      ['0.3.0', 'select 1'],
    ] as const) {
      await writeFunction('price.sql', price(body));
      await run({ version });
    }
    expect(await priceOf('a')).toBe(1);
  });

  test('are kept when their file is gone, until a migration drops them', async () => {
    await writeFunction('price.sql', price('select 1'));
    await run();
    await rm(join(directory, 'sql', 'price.sql'));
    await run();
    expect(await priceOf('a')).toBe(1);
    await write('0001_no_price.sql', 'drop function price');
    await run();
    await expect(priceOf('a')).rejects.toThrow('function price(unknown) does not exist');
  });

  test('are each defined by the file of their name', async () => {
    await writeFunction('cost.sql', price('select 1'));
    await expect(run()).rejects.toThrow('sql/cost.sql does not define a function cost in schema shop');
    await rm(join(directory, 'sql', 'cost.sql'));
    await writeFunction('Price.sql', price('select 1'));
    await expect(run()).rejects.toThrow('is not named <function>.sql');
  });
});
