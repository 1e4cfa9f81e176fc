import pg from 'pg';

import type { Logger } from '@quittance/runtime/logger.ts';
import { waitFor } from '@quittance/runtime/wait-for.ts';

import { outdatedFunctions, tableExists } from './functions.ts';
import { migrationNames, type MigrationSource } from './source.ts';

/** Longer than a migration may take in a deployment, and than a database needs to start. */
const TIMEOUT_MS = 900_000;

type Awaited = { url: string; schema: string; migrations: MigrationSource[] };

/**
 * Waits until another process has applied every migration and function of these sources. Applies none itself. A schema
 * that a later release has migrated is accepted.
 * @throws Error after 15 minutes or `timeoutMs`, with what is missing or why the database could not be reached.
 */
export async function awaitMigrations({
  logger,
  timeoutMs = TIMEOUT_MS,
  ...awaited
}: Awaited & { logger: Logger; timeoutMs?: number }): Promise<void> {
  await waitFor({ name: `schema ${awaited.schema}`, check: () => checkApplied(awaited), timeoutMs, logger });
}

/** Opens a new connection each time, because the address may lead to another server by then. */
async function checkApplied({ url, schema, migrations }: Awaited): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `await migrations ${schema}`,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const source of migrations) {
      const applied = await appliedMigrations(client, schema, source.ledger);
      const functions = await outdatedFunctions(client, schema, source);
      const missing = [
        ...(await migrationNames(source)).filter((name) => !applied.has(name)),
        ...functions.map(({ name }) => `sql/${name}`),
      ];
      if (missing.length > 0) throw new Error(`not yet applied: ${missing.join(', ')}`);
    }
  } finally {
    await client.end();
  }
}

async function appliedMigrations(client: pg.Client, schema: string, ledger: string): Promise<Set<string>> {
  const table = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(ledger)}`;
  if (!(await tableExists(client, table))) return new Set();
  const { rows } = await client.query<{ name: string }>(`select name from ${table}`);
  return new Set(rows.map(({ name }) => name));
}
