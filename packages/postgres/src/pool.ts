import pg from 'pg';
import type { QueryConfig, QueryResult, QueryResultRow } from 'pg';

import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { parseAddress } from './address.ts';
import { Connection, PooledConnection } from './connection.ts';
import { startupOptions, STATEMENT_TIMEOUT_MS } from './limits.ts';

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
/** Longer than the server's own limit, for a server that no longer responds. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;

/**
 * Connections of one service's role to its own schema. The first query opens the first connection.
 * Rows have int8 as bigint, numeric as string, date as string, timestamptz as Date.
 * Every wait has a limit: 2 s to connect or get a free connection, 5 s for a statement, 2 s for a lock, 10 s idle in a
 * transaction. Through a pooler the server has the last three from the role (roles/service.sql).
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
  const address = parseAddress(url);
  // If a setting is given twice, the last one counts: the operator's.
  const options = `${address.isPooled ? '' : startupOptions(schema)} ${address.options}`.trim();
  const pool = new pg.Pool({
    Client: address.isPooled ? PooledConnection : Connection,
    connectionString: address.url,
    max,
    application_name: applicationName,
    options,
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

/**
 * Throws when the database doesn't respond, or takes no changes, because it is a standby, or was set read-only as its
 * disk was nearly full. The connection is then closed, because a new one may lead to the new primary. For /readyz and
 * for waiting at start-up.
 */
export async function ping(pool: Pool): Promise<void> {
  const connection = await pool.connect();
  let isUsable = false;
  try {
    const { rows } = await connection.query<{ is_read_only: boolean }>(
      `select current_setting('transaction_read_only')::boolean as is_read_only`,
    );
    if (rows[0]?.is_read_only !== false) throw new ReadOnlyServer();
    isUsable = true;
  } finally {
    connection.release(!isUsable);
  }
}

class ReadOnlyServer extends Error {
  /** PostgreSQL's code for a change that it refuses for this reason. */
  readonly code = '25006';
  constructor() {
    super('the server is read-only: DATABASE_URL must lead to the primary, which takes changes');
    this.name = 'ReadOnlyServer';
  }
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
