import pg from 'pg';
import type { QueryConfig, QueryResult, QueryResultRow } from 'pg';

import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/**
 * The pool's own query() is for single statements that are expected to succeed: after any error, even a constraint
 * violation, it closes the connection. Run statements that may fail in transaction(), which keeps it.
 */
export type Pool = pg.Pool;

/** A pool or a transaction, as store functions use it. Type the rows: `query<{ payment_id: string }>(…)`. */
export type Queryable = {
  query<R extends QueryResultRow = QueryResultRow>(
    text: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<R>>;
};

/** The longest time for connecting, or for waiting for a free connection. The caller then fails instead of queueing. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 2_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** Longer than the server's own limit, for a server that no longer responds. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;

/**
 * Connections of one service's role to its own schema. The first query opens the first connection.
 * Rows have int8 as bigint, numeric as string, date as string, timestamptz as Date.
 * Every wait has a limit: 2 s to connect or get a free connection, 5 s for a statement, 2 s for a lock, 10 s idle in a
 * transaction.
 * @param max the most connections that this process opens.
 * @param metrics if given, the pool's used and idle connections and its waiting callers are exposed.
 */
export function createPool({
  url,
  schema,
  max,
  logger,
  applicationName,
  metrics,
}: {
  url: string;
  schema: string;
  max: number;
  logger: Logger;
  applicationName: string;
  metrics?: Metrics;
}): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    options: startupOptions(schema),
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    // Limits how long a connection keeps using a server that a failover has replaced.
    maxLifetimeSeconds: 1_800,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  pool.on('error', (error) => logger.warn({ error }, 'an idle database connection was lost'));
  // While a transaction holds a client, the pool doesn't listen for its errors. Without this listener, a connection
  // lost between two statements would be an unhandled 'error' and end the process. The transaction notices the loss at
  // its next statement.
  pool.on('connect', (client) => {
    client.on('error', (error) => logger.debug({ error }, 'a database connection was lost'));
  });
  if (metrics) exposePool(pool, applicationName, metrics);
  return pool;
}

/** Settings that are sent with the connection request, so that a new connection needs no further round trip. */
export function startupOptions(schema: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(schema)) throw new Error(`not a schema name: ${schema}`);
  return [
    `-c search_path=${schema}`,
    `-c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
    `-c lock_timeout=${LOCK_TIMEOUT_MS}`,
    `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
    '-c timezone=UTC',
  ].join(' ');
}

/** Throws when the database doesn't respond. For /readyz and for waiting at start-up. */
export async function ping(pool: Pool): Promise<void> {
  await pool.query('select 1');
}

type TextParser = (text: string) => unknown;
const standardParser = pg.types.getTypeParser as (oid: number, format?: 'text' | 'binary') => TextParser;

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

/**
 * Counts and units are always bigint: a JavaScript number would round them. A date has no time of day and must not get
 * one.
 */
const ownParsers = new Map<number, TextParser>([
  [INT8, BigInt],
  [INT8_ARRAY, (text) => toBigInts(standardParser(INT8_ARRAY)(text) as NestedTexts)],
  [DATE, String],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? null : ownParsers.get(oid)) ??
    standardParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

type NestedTexts = (string | null | NestedTexts)[];
type NestedBigInts = (bigint | null | NestedBigInts)[];

function toBigInts(texts: NestedTexts): NestedBigInts {
  return texts.map((text) => (Array.isArray(text) ? toBigInts(text) : text === null ? null : BigInt(text)));
}

function exposePool(pool: Pool, name: string, metrics: Metrics): void {
  const connections = metrics.gauge('db_pool_connections', 'Open database connections', ['pool', 'state']);
  const waiting = metrics.gauge('db_pool_waiting', 'Callers waiting for a database connection', ['pool']);
  metrics.beforeScrape(() => {
    connections.set({ pool: name, state: 'in_use' }, pool.totalCount - pool.idleCount);
    connections.set({ pool: name, state: 'idle' }, pool.idleCount);
    waiting.set({ pool: name }, pool.waitingCount);
  });
}
