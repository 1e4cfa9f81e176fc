import type { Transaction } from '@quittance/postgres/transaction.ts';
import { makeLaneDue } from './lane.ts';

/**
 * Stores a payment's one event with the bytes that will be sent, due at once.
 * @returns false when the payment has its event already.
 */
export async function insertEvent(
  tx: Transaction,
  event: { eventId: string; paymentId: string; merchantId: string; body: Buffer },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with stored as (
       insert into event (event_id, payment_id, merchant_id, body) values ($1, $2, $3, $4)
       on conflict (payment_id) do nothing
       returning event_id, merchant_id
     )
     insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, merchant_id, now() from stored`,
    [event.eventId, event.paymentId, event.merchantId, event.body],
  );
  if (rowCount !== 1) return false;
  await makeLaneDue(tx, event.merchantId);
  return true;
}
