import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

import type { Logger } from '@quittance/runtime/logger.ts';
import { waitFor } from '@quittance/runtime/wait-for.ts';

import type { MigrationSource } from './migrate.ts';

/** Longer than a migration may take in a deployment, and than a database needs to come up. */
const TIMEOUT_MS = 900_000;

/**
 * Waits until every migration of these sources has been applied, by whomever; applies none itself. A schema that has more than
 * these, because a later version was here, is as good.
 * @throws Error naming what is missing, or why the database could not be asked, after 15 minutes or `timeoutMs`.
 */
export async function awaitMigrations({
  url,
  schema,
  migrations,
  logger,
  timeoutMs = TIMEOUT_MS,
}: {
  url: string;
  schema: string;
  migrations: MigrationSource[];
  logger: Logger;
  timeoutMs?: number;
}): Promise<void> {
  const check = () => checkApplied({ url, schema, migrations });
  await waitFor({ name: `schema ${schema}`, check, timeoutMs, logger });
}

/** With a connection of its own each time, since the server may be another one by the next. */
async function checkApplied({
  url,
  schema,
  migrations,
}: {
  url: string;
  schema: string;
  migrations: MigrationSource[];
}): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `await migrations ${schema}`,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const { directory, ledger } of migrations) {
      const path = typeof directory === 'string' ? directory : fileURLToPath(directory);
      const wanted = (await readdir(path)).map((name) => name.replace(/\.sql$/, ''));
      const applied = await appliedIn(client, schema, ledger);
      const missing = wanted.filter((name) => !applied.has(name)).sort();
      if (missing.length > 0) throw new Error(`not yet applied: ${missing.join(', ')}`);
    }
  } finally {
    await client.end();
  }
}

async function appliedIn(client: pg.Client, schema: string, ledger: string): Promise<Set<string>> {
  const table = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(ledger)}`;
  const { rows: found } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    table,
  ]);
  if (found[0]?.exists !== true) return new Set();
  const { rows } = await client.query<{ name: string }>(`select name from ${table}`);
  return new Set(rows.map(({ name }) => name));
}
