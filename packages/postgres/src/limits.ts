export const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 2_000;
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

/** What the server must use in a service's connection, in the units of pg_settings. roles/service.sql has the same. */
export const settingsOf = (schema: string): Record<string, string> => ({
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
