import type { Address } from './address.ts';
import type { Queryable } from './pool.ts';

export const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 2_000;
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

const OLDEST_MAJOR_VERSION = 15;

/** What the server must use in a service's connection, in the units of pg_settings. roles/service.sql has the same. */
const settingsOf = (schema: string): Record<string, string> => ({
  search_path: schema,
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  lock_timeout: String(LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
  TimeZone: 'UTC',
});

/** Settings that are sent with the connection request, so that a new connection needs no further round trip. */
export function startupOptions(schema: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(schema)) throw new Error(`not a schema name: ${schema}`);
  return Object.entries(settingsOf(schema))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/** The server, or what is between it and this process, can't be used as it is configured. A retry doesn't help. */
export class SessionRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SessionRefused';
  }
}

/**
 * Checks at start that the connections are what the service asks for: without its time limits it would hang where it
 * should fail. Without `pgbouncer=true` it also checks where they come from, because the role may have the same ones
 * while a pooler drops the connection's.
 * @param address of the connections. What its options set themselves isn't checked.
 * @throws SessionRefused with what to change.
 */
export async function checkSession(
  db: Queryable,
  schema: string,
  { isPooled, options }: Pick<Address, 'isPooled' | 'options'>,
): Promise<void> {
  const wanted = Object.entries(settingsOf(schema)).filter(([name]) => !options.includes(`${name}=`));
  const found = await readSettings(db, Object.keys(settingsOf(schema))).catch((error: unknown) => {
    throw isOptionRefused(error) ? new SessionRefused(`${error.message}: ${POOLED}`) : error;
  });
  for (const [name, value] of wanted) {
    const { setting, source } = found.get(name) ?? { setting: '', source: '' };
    if (setting !== value)
      throw new SessionRefused(`${name} is "${setting}", not "${value}": ${isPooled ? ROLE : POOLED}`);
    if (source !== 'client' && !isPooled) throw new SessionRefused(`${name} is not the connection's own: ${POOLED}`);
  }
}

const POOLED = 'with a pooler such as PgBouncer, add pgbouncer=true to DATABASE_URL and set DATABASE_DIRECT_URL';
const ROLE = 'run packages/postgres/src/roles/service.sql again, which sets it for the role';

type Setting = { name: string; setting: string; source: string };

/** @throws SessionRefused when the server is too old. */
export async function readSettings(db: Queryable, names: readonly string[]): Promise<Map<string, Setting>> {
  const { rows } = await db.query<Setting>('select name, setting, source from pg_settings where name = any($1)', [
    ['server_version', 'server_version_num', ...names],
  ]);
  const settings = new Map(rows.map((row) => [row.name, row]));
  if (Number(settings.get('server_version_num')?.setting) < OLDEST_MAJOR_VERSION * 10_000)
    throw new SessionRefused(
      `PostgreSQL ${settings.get('server_version')?.setting} is too old: upgrade it to ${OLDEST_MAJOR_VERSION} or newer`,
    );
  return settings;
}

/** PgBouncer's words, unless its ignore_startup_parameters has `options`. */
const isOptionRefused = (error: unknown): error is Error =>
  error instanceof Error && error.message.startsWith('unsupported startup parameter');
