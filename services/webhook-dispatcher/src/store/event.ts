import type { Transaction } from '@quittance/postgres/transaction.ts';
import { isSampled } from '@quittance/runtime/tracing/tracing.ts';
import { makeLanesDueNow, noticeLaneOf } from './lane.ts';
import { takeBackNotices } from './order.ts';

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
 * Stores PAID events, due at once. A payment that has its event already keeps that one, and of two events of one payment the first
 * stays. The rows are written in order, so that two batches which share payments do not wait for each other.
 * Notices that they overtake are taken back, and those that are in flight are waited for.
 * @returns whether any of them is new.
 */
export async function insertEvents(tx: Transaction, events: readonly NewEvent[]): Promise<boolean> {
  await tx.query('select lock_payments($1)', [events.map((event) => event.paymentId)]);
  const { rows } = await tx.query<{ merchant_id: string; payment_id: string; overtakes: boolean }>(
    `with stored as (
       insert into event (event_id, payment_id, merchant_id, body, traceparent)
       select event_id, payment_id, merchant_id, body, traceparent
         from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[])
           with ordinality as e(event_id, payment_id, merchant_id, body, traceparent, place)
        order by payment_id, place
       on conflict (payment_id) do nothing
       returning event_id, merchant_id, payment_id
     ), queued as (
       insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, merchant_id, now() from stored
     )
     select s.merchant_id, s.payment_id, n.is_open is not null as overtakes
       from stored s
       left join lateral (
         select true as is_open from event e join delivery d on d.event_id = e.event_id
          where e.notice_payment_id = s.payment_id and precedes_paid(e.event_type) and d.status <> 'delivered'
          limit 1
       ) n on true`,
    [
      events.map((event) => event.eventId),
      events.map((event) => event.paymentId),
      events.map((event) => event.merchantId),
      events.map((event) => event.body),
      events.map(sampledTrace),
    ],
  );
  const overtaking = rows.filter((row) => row.overtakes);
  await makeLanesDueNow(tx, [
    ...rows.map((row) => row.merchant_id),
    ...overtaking.map((row) => noticeLaneOf(row.merchant_id)),
  ]);
  await takeBackNotices(
    tx,
    overtaking.map((row) => row.payment_id),
  );
  return rows.length > 0;
}
