import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import type { MigrationSource } from '@quittance/postgres/migrations/source.ts';
import { addressOf, prepareSchema, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { testLogger } from './logger.ts';

/** A schema and its migrations. */
export type MigratedSchema = { schema: string; migrations: MigrationSource[] };

/**
 * Environment variable with the prefix of the run's template names. Files don't change during a run, so a template
 * stays valid.
 */
export const TEMPLATES = 'TEST_DATABASE_TEMPLATES';

export const newTemplatePrefix = (): string => `template_${randomBytes(6).toString('hex')}`;

/**
 * Creates a database with the migrated schema by copying the run's template, which the first caller creates. A copy
 * takes a third of the migrations' processor time.
 * @param adminUrl the superuser's URL of the new database.
 */
export async function copyMigratedDatabase(options: {
  serverUrl: string;
  adminUrl: string;
  name: string;
  credentials: { role: string; password: string };
  migrated: MigratedSchema;
  prefix: string;
}): Promise<void> {
  const { serverUrl, adminUrl, name, credentials, migrated, prefix } = options;
  const template = templateName(prefix, migrated);
  await withClient(serverUrl, async (client) => {
    await ensureTemplate(client, { serverUrl, template, migrated });
    await client.query(`create database ${name} template ${template}`);
  });
  await prepareSchema({ adminUrl, schema: migrated.schema, ...credentials });
  await withClient(adminUrl, (client) => client.query(`reassign owned by ${template} to ${credentials.role}`));
}

/** Drops a run's templates on a server that outlives the run. */
export async function dropTemplates(serverUrl: string, prefix: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [prefix],
    );
    for (const { name } of rows) {
      await client.query(`drop database if exists ${name} with (force)`);
      await client.query(`drop role if exists ${name}`);
    }
  });
}

/**
 * The template gets its name when it is complete. When several workers come at once, one creates it and the others
 * wait.
 */
async function ensureTemplate(
  client: pg.Client,
  { serverUrl, template, migrated }: { serverUrl: string; template: string; migrated: MigratedSchema },
): Promise<void> {
  if (await exists(client, template)) return;
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
  if (!(await exists(client, template))) {
    const unfinished = `${template}_new`;
    const credentials = { role: template, password: randomBytes(12).toString('hex') };
    const adminUrl = addressOf(serverUrl, { database: unfinished });
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await prepareSchema({ adminUrl, schema: migrated.schema, ...credentials });
    await migrate({ url: addressOf(adminUrl, credentials), ...migrated, logger: testLogger });
    await client.query(`alter database ${unfinished} rename to ${template}`);
  }
  await client.query('select pg_advisory_unlock_all()');
}

async function exists(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  return rowCount === 1;
}

function templateName(prefix: string, { schema, migrations }: MigratedSchema): string {
  const sources = migrations.map(({ directory, ledger, version }) => [String(directory), ledger, version]);
  const hash = createHash('sha256')
    .update(JSON.stringify([schema, sources]))
    .digest('hex');
  return `${prefix}_${hash.slice(0, 12)}`;
}
