import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { createLogger } from '@quittance/runtime/logger.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
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
  await writeFile(join(directory, 'migrations', '0001_items.sql'), 'create table if not exists items (name text)');
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

/** Waits until the log says that `what` is missing, then has it applied, which ends the wait. */
async function misses(what: string, ...ledgers: string[]): Promise<void> {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', level: 'warn' }, { write: (line) => void lines.push(line) });
  const waiting = awaitMigrations({ url: database.url, schema: 'shop', migrations: sources(...ledgers), logger });
  await eventually(() => expect(lines.join('')).toContain(`not yet applied: ${what}`));
  await run(...ledgers);
  await expect(waiting).resolves.toBeUndefined();
}

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
    // Enough time for one check on a busy machine.
    await expect(wait(5_000, 'migrations')).rejects.toThrow('not yet applied: 0002_stock');
    await misses('0002_stock', 'migrations');
  });

  test('checks every source', async () => {
    await run('one');
    await misses('0001_items', 'one', 'two');
  });

  test('accepts a schema that a later version has migrated, and does so before that migration too', async () => {
    await writeFile(join(directory, 'migrations', '0002_stock.sql'), 'alter table items add stock int');
    await run('migrations');
    await rm(join(directory, 'migrations', '0002_stock.sql'));
    await expect(wait(60_000, 'migrations')).resolves.toBeUndefined();
    await expect(run('migrations')).resolves.toBeUndefined();
  });

  test('waits while a function is missing or has another text, and logs which', async () => {
    await run('migrations');
    for (const text of [stock(1), stock(2)]) {
      await writeFile(join(directory, 'sql', 'stock.sql'), text);
      await misses('sql/stock', 'migrations');
    }
  });

  test('accepts a function that a later version has changed', async () => {
    version = '0.2.0';
    await writeFile(join(directory, 'sql', 'stock.sql'), stock(2));
    await run('migrations');
    version = '0.1.0';
    await writeFile(join(directory, 'sql', 'stock.sql'), stock(1));
    await expect(wait(60_000, 'migrations')).resolves.toBeUndefined();
  });

  test('reports that the database could not be reached', async () => {
    const nowhere = database.url.replace(/:\d+\//, ':1/');
    const waiting = awaitMigrations({
      url: nowhere,
      schema: 'shop',
      migrations: sources('migrations'),
      logger: testLogger,
      timeoutMs: 3_000,
    });
    await expect(waiting).rejects.toThrow(/schema shop is not available .* (?:connect )?ECONNREFUSED/);
  });
});
