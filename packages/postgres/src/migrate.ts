import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

import type { Logger } from '@quittance/runtime/logger.ts';

/** One folder of `NNNN_name.sql` files and the table, in the same schema, that remembers which of them were applied. */
export type MigrationSource = { directory: string | URL; ledger: string };

/** Longest wait for another replica's migration to finish. */
const MIGRATION_LOCK_TIMEOUT_MS = 120_000;
/** A migration that cannot get its locks gives up before it has stopped the service for long. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Brings a schema up to date: applies every SQL file not yet applied, in order, each source in one transaction.
 * Migrations only go forward; a file that was applied must never change, be renamed or gain a predecessor.
 * Any number of processes may call this at once: they take turns, and the later ones find nothing left to do.
 * The role needs to own `schema` and nothing more.
 * @throws when a file is misnamed, out of order or fails; its source is then unchanged.
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
    connectionTimeoutMillis: 5_000,
  });
  // The statement under way rejects as well; this only keeps the lost connection from being an unhandled event.
  client.on('error', (error) => logger.debug({ error }, 'the migration connection was lost'));
  await client.connect();
  try {
    await client.query(`set lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}`);
    await client.query(`select pg_advisory_lock(hashtextextended('migrate ' || $1, 0))`, [schema]);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    for (const source of migrations) await apply(client, schema, source, logger);
  } finally {
    // Ending the session releases the advisory lock.
    await client.end();
  }
}

async function apply(
  client: pg.Client,
  schema: string,
  { directory, ledger }: MigrationSource,
  logger: Logger,
): Promise<void> {
  const path = typeof directory === 'string' ? directory : fileURLToPath(directory);
  await checkFileNames(path);
  const applied = await runner({
    dbClient: client,
    dir: path,
    direction: 'up',
    schema,
    migrationsTable: ledger,
    // Ours spans all sources, and waits where the library's would fail.
    noLock: true,
    singleTransaction: true,
    checkOrder: true,
    logger: {
      debug: () => undefined,
      info: (message: string) => logger.debug({ schema, ledger }, message),
      warn: (message: string) => logger.warn({ schema, ledger }, message),
      error: (message: string) => logger.error({ schema, ledger }, message),
    },
  });
  logger.info({ schema, ledger, applied: applied.map(({ name }) => name) }, 'schema is up to date');
}

/** The library would run a .ts file, and take two files with one number in either order. */
async function checkFileNames(directory: string): Promise<void> {
  const names = (await readdir(directory)).sort();
  const numbers = new Set<string>();
  for (const name of names) {
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1];
    if (number === undefined) throw new Error(`${directory}/${name} is not named NNNN_name.sql`);
    if (numbers.has(number)) throw new Error(`${directory} has two migrations numbered ${number}`);
    numbers.add(number);
  }
}
