import { runner } from 'node-pg-migrate';
import pg from 'pg';

import type { Logger } from '@quittance/runtime/logger.ts';

import { applyFunctions } from './functions.ts';
import { migrationNames, pathOf, type MigrationSource } from './source.ts';

/** Longest wait for another replica's migration to finish. */
const MIGRATION_LOCK_TIMEOUT_MS = 120_000;
/** A migration that cannot get its locks fails before it has blocked the service for long. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Brings a schema up to date. Each source in turn: its migrations not yet applied, in order and in one transaction, then
 * its functions whose text changed, in another one.
 * Migrations only go forward; a file that was applied must never change, be renamed or gain a predecessor.
 * Any number of processes may call this at once: one works, the others wait and find nothing left to do.
 * The role needs to own `schema` and nothing more.
 * @throws when a file is misnamed, out of order or fails; its transaction is then rolled back.
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
  // The running statement rejects as well; this only keeps the lost connection from being an unhandled event.
  client.on('error', (error) => logger.debug({ error }, 'the migration connection was lost'));
  await client.connect();
  try {
    await client.query(`set lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}`);
    await client.query(`select pg_advisory_lock(hashtextextended('migrate ' || $1, 0))`, [schema]);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    for (const source of migrations) {
      const applied = await applyMigrations(client, schema, source, logger);
      const functions = await applyFunctions(client, schema, source);
      logger.info({ schema, ledger: source.ledger, applied, functions }, 'schema is up to date');
    }
  } finally {
    // Ending the session releases the advisory lock.
    await client.end();
  }
}

async function applyMigrations(
  client: pg.Client,
  schema: string,
  source: MigrationSource,
  logger: Logger,
): Promise<string[]> {
  const { ledger } = source;
  // Only for its checks of the names.
  await migrationNames(source);
  const applied = await runner({
    dbClient: client,
    dir: pathOf(source, 'migrations'),
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
  return applied.map(({ name }) => name);
}
