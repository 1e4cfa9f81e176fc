import type { Address } from './address.ts';
import { settingsOf } from './limits.ts';
import type { Queryable } from './pool.ts';

/** Of those in docs/managed.md. */
export const OLDEST_MAJOR_VERSION = 15;

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
