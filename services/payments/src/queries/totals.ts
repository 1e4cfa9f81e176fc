import type { Queryable } from '@quittance/postgres/pool.ts';
import { isUnfinishedSql } from '../store/payment.ts';
import { paysNothingSql } from '../store/transfer.ts';

/** How many payments wait, of all merchants: each is in a partial index, and no other is. */
export async function countOpen(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ open: number }>(
    `select count(*)::integer as open from payment where ${isUnfinishedSql}`,
  );
  return rows[0]?.open ?? 0;
}

/**
 * Counts the transfers that pay nothing by the day of their block, from the index of the list of them.
 * @param span from the beginning of the first day to the end of the last one.
 * @returns a row for each day that has any.
 */
export async function countUnmatched(
  db: Queryable,
  { from, to }: { from: Date; to: Date },
): Promise<{ day: string; unmatched: number; late: number }[]> {
  const { rows } = await db.query<{ day: string; unmatched: number; late: number }>(
    `select to_char(date_bin('1 day', block_timestamp, 'epoch'), 'YYYY-MM-DD') as day, count(*)::integer as unmatched,
            (count(*) filter (where reason = 'late'))::integer as late
       from transfer where ${paysNothingSql} and block_timestamp >= $1 and block_timestamp < $2
      group by 1`,
    [from, to],
  );
  return rows;
}
