import type { Transaction } from '@quittance/postgres/transaction.ts';
import { isSampled } from '@quittance/runtime/tracing/tracing.ts';
import { makeLanesDueNow } from './lane.ts';

/** A payment's one PAID event, with the bytes that will be sent. `traceparent`: W3C, of the span in which it is written. */
export type NewEvent = {
  eventId: string;
  paymentId: string;
  merchantId: string;
  body: Buffer;
  traceparent?: string | null;
};

/** Only a trace that is exported is worth keeping. */
export const sampledTrace = ({ traceparent = null }: { traceparent?: string | null }): string | null =>
  traceparent !== null && isSampled(traceparent) ? traceparent : null;

/**
 * Stores PAID events, due at once, of merchants who did not choose to go without them. A payment that has its event already keeps that
 * one, and of two events of one payment the first stays. The rows are written in order, so that two batches which share payments do not wait for each other.
 * @returns whether any of them is new.
 */
export async function insertEvents(tx: Transaction, events: readonly NewEvent[]): Promise<boolean> {
  const { rows } = await tx.query<{ merchant_id: string }>(
    `with stored as (
       insert into event (event_id, payment_id, merchant_id, body, traceparent)
       select event_id, payment_id, merchant_id, body, traceparent
         from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[])
           with ordinality as e(event_id, payment_id, merchant_id, body, traceparent, place)
        where not exists (select from endpoint p where p.merchant_id = e.merchant_id and not 'PAID' = any(p.events))
        order by payment_id, place
       on conflict (payment_id) do nothing
       returning event_id, merchant_id
     )
     insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, merchant_id, now() from stored
     returning merchant_id`,
    [
      events.map((event) => event.eventId),
      events.map((event) => event.paymentId),
      events.map((event) => event.merchantId),
      events.map((event) => event.body),
      events.map(sampledTrace),
    ],
  );
  await makeLanesDueNow(
    tx,
    rows.map((row) => row.merchant_id),
  );
  return rows.length > 0;
}
