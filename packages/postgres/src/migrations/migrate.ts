import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MigrationBuilder, runner } from 'node-pg-migrate';
import pg from 'pg';

import { backoffMs } from '@quittance/runtime/concurrency/backoff.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

import { readSettings } from '../session.ts';
import { applyFunctions } from './functions.ts';
import { migrationNames, pathOf, type MigrationSource } from './source.ts';

/** No merchant waits for a migration, so a busy server may take this long. */
const CONNECT_TIMEOUT_MS = 30_000;
/** The longest wait for another process's migration: an index build waits for every open transaction. */
const MIGRATION_LOCK_TIMEOUT_MS = 900_000;
const MIGRATION_LOCK_POLL_MS = 200;
/** A statement that waits for a table's lock blocks every later one. This is how long at most. */
const LOCK_TIMEOUT_MS = 500;
/** Longer than the services' statements take. Readers that take hours are not awaited. */
const LOCK_RETRIES_MS = 600_000;
const LOCK_RETRY = { firstMs: 500, maxMs: 5_000 };
/** SQLSTATE of a lock that was not available in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Brings a schema up to date while it is in use. For each source in order: applies its new migrations, each in a
 * transaction, then the functions whose text changed, in one transaction. A statement that doesn't get its lock in time
 * gives way to those that wait behind it, and is tried again.
 * Migrations only go forward. An applied file must never change, be renamed or get a predecessor.
 * Any number of processes may call this at the same time: one works, the others wait and find nothing left to do.
 * The role needs to own `schema` and nothing more.
 * @param options.url leads to the server itself, because the lock belongs to a session.
 * @throws when a file has a wrong name or order, fails, or gets no lock for ten minutes. Its transaction is then rolled
 *   back; earlier files stay applied.
 */
export async function migrate({
  url,
  schema,
  migrations,
  logger,
}: {
  url: string;
  schema: string;
  migrations: MigrationSource[];
  logger: Logger;
}): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `migrate ${schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // The running statement rejects too. This only prevents an unhandled event when the connection is lost.
  client.on('error', (error) => logger.debug({ error }, 'the migration connection was lost'));
  await client.connect();
  try {
    await liftLimits(client);
    await readSettings(client, []);
    await lockSchema(client, schema);
    for (const source of migrations) {
      const applied: string[] = [];
      for (;;) {
        const next = await withLockRetries(client, logger, () => applyNext(client, schema, source, logger));
        if (next === undefined) break;
        applied.push(next);
      }
      const functions = await withLockRetries(client, logger, () => applyFunctions(client, schema, source));
      logger.info({ schema, ledger: source.ledger, applied, functions }, 'schema is up to date');
    }
  } finally {
    // Ending the session releases the advisory lock.
    await client.end();
  }
}

/** The role has limits for a service's statements. An index build takes longer. */
async function liftLimits(client: pg.Client): Promise<void> {
  await client.query(`set statement_timeout = 0; set idle_in_transaction_session_timeout = 0`);
}

/**
 * Polls instead of waiting: a waiting statement has a snapshot, and another process's index build would wait for its
 * end.
 */
async function lockSchema(client: pg.Client, schema: string): Promise<void> {
  const deadline = performance.now() + MIGRATION_LOCK_TIMEOUT_MS;
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('migrate ' || $1, 0)) as locked`,
      [schema],
    );
    if (rows[0]?.locked === true) return;
    if (performance.now() > deadline) throw new Error(`another process is still migrating ${schema}`);
    await sleep(MIGRATION_LOCK_POLL_MS);
  }
}

async function withLockRetries<T>(client: pg.Client, logger: Logger, apply: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + LOCK_RETRIES_MS;
  for (let failures = 0; ; failures += 1) {
    try {
      await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
      return await apply();
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || performance.now() > deadline) throw error;
      logger.warn({ failures: failures + 1 }, 'a migration did not get its lock in time; trying again');
      await sleep(backoffMs(failures, LOCK_RETRY));
    }
  }
}

/** @returns the name of the migration that was applied; undefined when none is left. */
async function applyNext(
  client: pg.Client,
  schema: string,
  source: MigrationSource,
  logger: Logger,
): Promise<string | undefined> {
  const { ledger } = source;
  // Checks the names of the files.
  await migrationNames(source);
  const log = (message: string) => logger.debug({ schema, ledger }, message);
  const [applied] = await runner({
    dbClient: client,
    dir: pathOf(source, 'migrations'),
    direction: 'up',
    count: 1,
    schema,
    migrationsTable: ledger,
    // Our own lock covers all sources, and waits where the library's would fail.
    noLock: true,
    singleTransaction: true,
    checkOrder: true,
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader: (paths) => Promise.all(paths.map(loadMigration)) }],
    // Failures are thrown.
    logger: { debug: () => undefined, info: log, warn: log, error: log },
  });
  return applied?.name;
}

const INDEX_BUILD = /^(?:\s*--.*\n)*\s*create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)/i;

/**
 * A file that builds an index concurrently has only that statement, because PostgreSQL runs it only outside a
 * transaction. It blocks no writer, so it may wait for locks. A failed build leaves an index that is written and never
 * read; it is dropped first.
 */
async function loadMigration(path: string) {
  const sql = await readFile(path, 'utf8');
  const index = INDEX_BUILD.exec(sql)?.[1];
  const up = (builder: MigrationBuilder): void => {
    if (index !== undefined) {
      builder.noTransaction();
      builder.sql('set lock_timeout = 0');
      builder.sql(`drop index concurrently if exists ${index}`);
    }
    builder.sql(sql);
  };
  return { id: path, filePaths: [path], actions: { up, down: false as const } };
}
