import type { QueryResult, QueryResultRow } from 'pg';

import type { Transaction } from './transaction.ts';

/** Carries out one statement that may take longer than a pool's statements may; those after it in the transaction may, too. */
export async function longStatement<R extends QueryResultRow>(
  tx: Transaction,
  timeoutMs: number,
  { text, values }: { text: string; values: unknown[] },
): Promise<QueryResult<R>> {
  await tx.query(`set local statement_timeout = ${timeoutMs}`);
  // pg's own limit, which its types do not know as an option of a query.
  const limit: object = { query_timeout: timeoutMs + 1_000 };
  return tx.query<R>({ ...limit, text, values });
}
