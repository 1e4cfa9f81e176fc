import { randomBytes } from 'node:crypto';
import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { addressOf, createDatabase, prepareSchema, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { copyMigratedDatabase, TEMPLATES, type MigratedSchema } from './database-template.ts';
import { testLogger } from './logger.ts';

export type TestDatabase = {
  /** The service's URL, with a role that owns this schema and can use nothing else. */
  url: string;
  /** The superuser's URL of the same database. */
  adminUrl: string;
  drop(): Promise<void>;
};

/** A new, migrated database with its own role, on the run's PostgreSQL. */
export async function testDatabase(migrated: MigratedSchema): Promise<TestDatabase> {
  const { schema, migrations } = migrated;
  const serverUrl = runsPostgres();
  const name = `test_${schema}_${randomBytes(6).toString('hex')}`;
  const credentials = { role: name, password: randomBytes(12).toString('hex') };
  const adminUrl = addressOf(serverUrl, { database: name });
  const url = addressOf(adminUrl, credentials);

  const prefix = process.env[TEMPLATES];
  if (prefix !== undefined && migrations.length > 0) {
    await copyMigratedDatabase({ serverUrl, adminUrl, name, credentials, migrated, prefix });
  } else {
    await createDatabase(serverUrl, name);
    await prepareSchema({ adminUrl, schema, ...credentials });
    await migrate({ url, ...migrated, logger: testLogger });
  }
  return {
    url,
    adminUrl,
    drop: () =>
      withClient(serverUrl, async (client) => {
        await client.query(`drop database if exists ${name} with (force)`);
        await client.query(`drop role if exists ${name}`);
      }),
  };
}

/**
 * Tests wait longer than services do, so that they fail because something is wrong, and not because a machine is busy.
 */
const PATIENT_MS = 60_000;

/** Connections for the test itself, like a service's, but with long time limits. */
export function testPool({ url, schema, max }: { url: string; schema: string; max: number }): Pool {
  const pool = createPool({ url, schema, max, logger: testLogger, applicationName: 'test' });
  const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  const patience = limits.map((name) => ` -c ${name}=${PATIENT_MS}`).join('');
  // If a setting is given twice, the last one counts.
  const { options: own = '' } = pool.options as { options?: string };
  const options = own + patience;
  Object.assign(pool.options, { options, connectionTimeoutMillis: PATIENT_MS, query_timeout: PATIENT_MS });
  return pool;
}

function runsPostgres(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (!url) throw new Error('There is no PostgreSQL for this test: name it *.int.test.ts, so that the run starts one.');
  return url;
}
