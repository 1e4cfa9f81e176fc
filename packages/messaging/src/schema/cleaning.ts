import type { Pool } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';

type Retention = { table: string; column: string; days: number; batchSize: number };

/** Deletes a table's old rows in small batches, one after the other while there are more. */
export function startCleaning(
  { pool, logger, metrics }: LoopContext & { pool: Pool },
  { name, intervalMs, ...retention }: Retention & { name: string; intervalMs: number },
): Loop {
  const run = async () => ({ more: (await deleteOldRows(pool, retention)) === retention.batchSize });
  return startLoop({ name, intervalMs, logger, metrics, run });
}

/**
 * Deletes at most one batch, the oldest first. Replicas that run it at the same time skip each other's rows.
 * @returns how many rows were deleted.
 */
export async function deleteOldRows(pool: Pool, { table, column, days, batchSize }: Retention): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${column} < now() - make_interval(days => $1)
       order by ${column} limit $2
       for update skip locked))`,
    [days, batchSize],
  );
  return rowCount ?? 0;
}
