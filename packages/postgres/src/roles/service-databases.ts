import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { schemas, type ServiceName, serviceNames } from '@quittance/contracts/service-name.ts';

/** The schema of each service and the role that owns it. A role can use only its own schema. */
export const serviceSchemas = {
  'api-gateway': { schema: schemas['api-gateway'], role: 'quittance_gateway' },
  payments: { schema: schemas.payments, role: 'quittance_payments' },
  'chain-watcher': { schema: schemas['chain-watcher'], role: 'quittance_chain' },
  'webhook-dispatcher': { schema: schemas['webhook-dispatcher'], role: 'quittance_webhooks' },
  quota: { schema: schemas.quota, role: 'quittance_quota' },
} as const satisfies Record<ServiceName, { schema: string; role: string }>;

/** Those of the optional notifier. */
export const notifierSchema = { schema: 'notifier', role: 'quittance_notifier' } as const;

/**
 * Creates the database, the five roles and their schemas where they are missing, and sets the roles' passwords.
 * @param adminUrl the URL of a role on the server with CREATEROLE and CREATEDB.
 * @returns each service's DATABASE_URL.
 */
export async function prepareServiceDatabases({
  adminUrl,
  database = 'quittance',
  passwords,
}: {
  adminUrl: string;
  database?: string;
  passwords: Record<ServiceName, string>;
}): Promise<Record<ServiceName, string>> {
  await createDatabase(adminUrl, database);
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const service of serviceNames) {
    const { schema, role } = serviceSchemas[service];
    const credentials = { role, password: passwords[service] };
    await prepareSchema({ adminUrl: addressOf(adminUrl, { database }), schema, ...credentials });
    urls[service] = addressOf(adminUrl, { database, ...credentials });
  }
  return urls as Record<ServiceName, string>;
}

/** Two calls at the same time may both find no database. "Already exists" is then a success. */
export async function createDatabase(adminUrl: string, database: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (rowCount) return;
    await client.query(`create database ${client.escapeIdentifier(database)}`).catch((error: unknown) => {
      const { code } = error as { code?: string };
      if (code !== '42P04' && code !== '23505') throw error;
    });
  });
}

/** Runs service.sql: creates a role that owns one schema of the database named in `adminUrl`. */
export async function prepareSchema(options: {
  adminUrl: string;
  schema: string;
  role: string;
  password: string;
  /** A second login that acts as `role`, while the password is being replaced. */
  login?: { role: string; password: string };
}): Promise<void> {
  const sql = await readFile(new URL('service.sql', import.meta.url), 'utf8');
  await withClient(options.adminUrl, async (client) => {
    await client.query(
      `select set_config('quittance.service_schema', $1, false), set_config('quittance.service_role', $2, false),
              set_config('quittance.service_password', $3, false), set_config('quittance.service_login', $4, false),
              set_config('quittance.service_login_password', $5, false)`,
      [options.schema, options.role, options.password, options.login?.role ?? '', options.login?.password ?? ''],
    );
    await client.query(sql);
  });
}

/** The URL of the same server with another role or another database. */
export function addressOf(url: string, change: { database?: string; role?: string; password?: string }): string {
  const address = new URL(url);
  if (change.database !== undefined) address.pathname = `/${change.database}`;
  if (change.role !== undefined) address.username = change.role;
  if (change.password !== undefined) address.password = change.password;
  return address.href;
}

/** No merchant waits for it, so a busy server may take this long. A server that is gone refuses immediately. */
const CONNECT_TIMEOUT_MS = 30_000;

export async function withClient<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
