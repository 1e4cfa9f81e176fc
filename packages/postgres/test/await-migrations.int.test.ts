import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { awaitMigrations } from '../src/migrations/await-migrations.ts';
import { migrate } from '../src/migrations/migrate.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  version = '0.1.0';
  database = await testDatabase({ schema: 'shop', migrations: [] });
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await Promise.all(['migrations', 'sql'].map((folder) => mkdir(join(directory, folder))));
  await writeFile(join(directory, 'migrations', '0001_items.sql'), 'create table items (name text)');
});
afterEach(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

let version: string;
const sources = (...ledgers: string[]) => ledgers.map((ledger) => ({ directory, ledger, version }));
const run = (...ledgers: string[]) =>
  migrate({ url: database.url, schema: 'shop', migrations: sources(...ledgers), logger: testLogger });
const wait = (timeoutMs: number, ...ledgers: string[]) =>
  awaitMigrations({
    url: database.url,
    schema: 'shop',
    migrations: sources(...ledgers),
    logger: testLogger,
    timeoutMs,
  });

const stock = (n: number) => `create or replace function stock() returns int language sql as 'select ${n}'`;

describe('waiting for migrations', () => {
  test('ends once another process has applied them', async () => {
    const waiting = wait(60_000, 'migrations');
    await run('migrations');
    await expect(waiting).resolves.toBeUndefined();
  });

  test('waits while one is missing, and logs which', async () => {
    await run('migrations');
    await writeFile(join(directory, 'migrations', '0002_stock.sql'), 'alter table items add stock int');
    await expect(wait(1_000, 'migrations')).rejects.toThrow('not yet applied: 0002_stock');
  });

  test('looks at every source', async () => {
    await run('one');
    await expect(wait(1_000, 'one', 'two')).rejects.toThrow('not yet applied: 0001_items');
  });

  test('is content with a schema that a later version has left, and so is that version before it', async () => {
    await writeFile(join(directory, 'migrations', '0002_stock.sql'), 'alter table items add stock int');
    await run('migrations');
    await rm(join(directory, 'migrations', '0002_stock.sql'));
    await expect(wait(60_000, 'migrations')).resolves.toBeUndefined();
    await expect(run('migrations')).resolves.toBeUndefined();
  });

  test('waits while a function is missing or has another text, and logs which', async () => {
    await run('migrations');
    await writeFile(join(directory, 'sql', 'stock.sql'), stock(1));
    await expect(wait(1_000, 'migrations')).rejects.toThrow('not yet applied: sql/stock');
    await run('migrations');
    await expect(wait(60_000, 'migrations')).resolves.toBeUndefined();
    await writeFile(join(directory, 'sql', 'stock.sql'), stock(2));
    await expect(wait(1_000, 'migrations')).rejects.toThrow('not yet applied: sql/stock');
  });

  test('accepts a function that a later version has changed', async () => {
    version = '0.2.0';
    await writeFile(join(directory, 'sql', 'stock.sql'), stock(2));
    await run('migrations');
    version = '0.1.0';
    await writeFile(join(directory, 'sql', 'stock.sql'), stock(1));
    await expect(wait(60_000, 'migrations')).resolves.toBeUndefined();
  });

  test('says that the database could not be asked, when that is so', async () => {
    const nowhere = database.url.replace(/:\d+\//, ':1/');
    const waiting = awaitMigrations({
      url: nowhere,
      schema: 'shop',
      migrations: sources('migrations'),
      logger: testLogger,
      timeoutMs: 1_000,
    });
    await expect(waiting).rejects.toThrow(/schema shop is not available .* (?:connect )?ECONNREFUSED/);
  });
});
