import type { QueryResult, QueryResultRow } from 'pg';

import type { Transaction } from './transaction.ts';

/**
 * Runs one statement with its own time limit, longer than the pool's. The limit also holds for later statements of the
 * transaction.
 */
export async function longStatement<R extends QueryResultRow>(
  tx: Transaction,
  timeoutMs: number,
  { text, values }: { text: string; values: unknown[] },
): Promise<QueryResult<R>> {
  await tx.query(`set local statement_timeout = ${timeoutMs}`);
  // pg's client-side limit, which is missing in its types for a query's options.
  const limit: object = { query_timeout: timeoutMs + 1_000 };
  return tx.query<R>({ ...limit, text, values });
}
