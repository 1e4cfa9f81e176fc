import type { Queryable } from '@quittance/postgres/pool.ts';
import { findPayment, type PaymentRow } from '../store/payment.ts';
import { paysNothingSql } from '../store/transfer.ts';

/** A transfer that was meant for a payment and is not its amount. */
export type NearMiss = { amount_units: string; decimals: number; block_timestamp: Date };

/** Of the payments on a wallet, this many are looked at; a wallet that has more in a day is taken to have one that fits. */
const MAX_NEIGHBOURS = 1_000;

export async function findPaymentByToken(db: Queryable, tokenSha256: string): Promise<PaymentRow | null> {
  const { rows } = await db.query<{ payment_id: string }>(
    `select payment_id from payment where token_sha256 = decode($1, 'hex')`,
    [tokenSha256],
  );
  return rows[0] === undefined ? null : findPayment(db, rows[0].payment_id);
}

/** A customer who has sent more parts than these is told of none of the others. */
const MAX_NEAR_MISSES = 5;

/** The newest ones. */
export async function findNearMisses(db: Queryable, paymentId: string): Promise<NearMiss[]> {
  const { rows } = await db.query<NearMiss>(
    `select amount_units, decimals, block_timestamp from transfer
      where related_payment_id = $1 and ${paysNothingSql} and reason in ('underpaid', 'overpaid')
      order by block_timestamp desc limit ${MAX_NEAR_MISSES}`,
    [paymentId],
  );
  return rows;
}

/**
 * Whether another payment that was unfinished on the wallet at that time asks for an amount in this range, in millionths of a USDT. No
 * payment waits for longer than a day, nor for money from much before it was created.
 */
export async function hasNeighbourAsking(
  db: Queryable,
  { payment_id: paymentId, network, recipient }: Pick<PaymentRow, 'payment_id' | 'network' | 'recipient'>,
  blockTime: Date,
  { least, most }: { least: bigint; most: bigint },
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `with recent as (
       select * from payment
        where network = $2 and recipient = $3
          and created_at < $4::timestamptz + interval '15 seconds' and created_at > $4::timestamptz - interval '25 hours'
        order by created_at desc limit ${MAX_NEIGHBOURS})
     select count(*) = ${MAX_NEIGHBOURS}
         or bool_or(payment_id <> $1 and amount_units between $5 and $6
                    and least(expires_at, cancelled_at, paid_at) > $4) as found
       from recent`,
    [paymentId, network, recipient, blockTime, least, most],
  );
  return rows[0]?.found === true;
}
