import type { Queryable } from '@quittance/postgres/pool.ts';
import { findPayment, type PaymentRow } from '../store/payment.ts';
import { paysNothingSql } from '../store/transfer.ts';

export async function findPaymentByToken(db: Queryable, tokenSha256: string): Promise<PaymentRow | null> {
  const { rows } = await db.query<{ payment_id: string }>(
    `select payment_id from payment where token_sha256 = decode($1, 'hex')`,
    [tokenSha256],
  );
  return rows[0] === undefined ? null : findPayment(db, rows[0].payment_id);
}

/**
 * @returns of the transfers that may be for a payment and carry from 50 to 200 % of its amount the one that is nearest to it; null where there
 *   is none, and 24 hours after the payment's end.
 */
export async function findNearestCandidate(
  db: Queryable,
  payment: Pick<PaymentRow, 'payment_id'>,
): Promise<{ amount_units: string; decimals: number } | null> {
  const { rows } = await db.query<{ amount_units: string; decimals: number }>(
    `select t.amount_units, t.decimals
       from payment p, lateral (
         select * from transfer where related_payment_id = p.payment_id and ${paysNothingSql}
         union all
         select * from transfer where candidates @> array[p.payment_id] and ${paysNothingSql}) t,
       lateral (select p.amount_units * ('1e' || t.decimals - 6)::numeric as units) asked
      where p.payment_id = $1 and least(p.expires_at, p.cancelled_at) > now() - interval '24 hours'
        and t.amount_units between asked.units / 2 and asked.units * 2
      order by abs(t.amount_units - asked.units), t.block_timestamp desc limit 1`,
    [payment.payment_id],
  );
  return rows[0] ?? null;
}
