import type { Queryable } from '@quittance/postgres/pool.ts';

/** A transfer that pays a payment, alone or together with others. */
export type PayingRow = {
  transaction_id: string;
  transaction_event_index: number;
  /** Base units of the token, decimal integer text, and how many decimals the token has. */
  amount_units: string;
  decimals: number;
  confirmations: number;
};

/** @returns the transfers that pay a PAID payment, in the order of the chain; the first `limit` of them. */
export async function findPaying(db: Queryable, paymentId: string, limit: number): Promise<PayingRow[]> {
  const { rows } = await db.query<PayingRow>(
    `select transaction_id, transaction_event_index, amount_units, decimals, confirmations
       from (select * from transfer where payment_id = $1
             union all
             select * from transfer where related_payment_id = $1 and counted) paying
      order by block_number, transaction_event_index, transaction_id limit $2`,
    [paymentId, limit],
  );
  return rows;
}
