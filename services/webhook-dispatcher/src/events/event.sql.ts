import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { isSampled } from '@quittance/runtime/tracing/tracing.ts';
import {
  makeLanesDueNow,
  noticeLaneOf,
  makeNoticeLanesDueNow,
  NOTICES,
  isForNotices,
  lanesOf,
  merchantOf,
} from '../lanes/lane.sql.ts';
import { noticeTypes, type DeliveryRecord, type NoticeType } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** The fields of a delivery `d` and its event `e` for its merchant, without the URL, the body and the key. */
export const recordColumns = `e.event_id, coalesce(e.payment_id, e.notice_payment_id) as payment_id, e.event_type, d.status, d.attempts,
  d.created_at, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.error_category`;

export type RecordRow = WithDates<
  DeliveryRecord,
  'created_at' | 'last_attempt_at' | 'next_attempt_at' | 'delivered_at'
>;

const columns = <Row>(rows: readonly Row[], ...names: (keyof Row)[]): Row[keyof Row][][] =>
  names.map((name) => rows.map((row) => row[name]));

/** A payment's only PAID event, with the bytes to send. `traceparent`: W3C, of the span that writes the event. */
export type NewEvent = {
  eventId: string;
  paymentId: string;
  merchantId: string;
  body: Buffer;
  traceparent?: string | null;
};

/** Only exported traces are stored. */
const sampledTrace = ({ traceparent = null }: { traceparent?: string | null }): string | null =>
  traceparent !== null && isSampled(traceparent) ? traceparent : null;

/**
 * Stores PAID events, due now. A payment that already has its PAID event keeps that one, and of two events of one payment the first one
 * counts. The rows are written in order, so that two batches with the same payments do not deadlock. Notices that must not follow PAID are
 * withdrawn; PAID waits for those that are in flight.
 * @returns whether any event is new.
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
    [...columns(events, 'eventId', 'paymentId', 'merchantId', 'body'), events.map(sampledTrace)],
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

/** An event of a type other than PAID, with the bytes to send. */
export type NewNotice = {
  eventId: string;
  merchantId: string;
  type: NoticeType;
  /** Null for a transfer that fits no payment. */
  paymentId: string | null;
  /** Identifies what it is about: only the first notice about one thing is stored. */
  occurrence: string;
  body: Buffer;
  traceparent?: string | null;
};

/**
 * Stores notices, due now, for merchants that currently subscribe to their type. The rows are written in order, so that two batches about the
 * same things do not deadlock. A notice that must not follow the PAID event of its payment is stored as withdrawn.
 * @returns whether any notice is to be sent.
 */
export async function insertNotices(tx: Transaction, notices: readonly NewNotice[]): Promise<boolean> {
  const paid = await lockPaid(
    tx,
    notices.flatMap(({ paymentId }) => paymentId ?? []),
  );
  const { rows } = await tx.query<{ merchant_id: string }>(
    `with stored as (
       insert into event (event_id, merchant_id, event_type, notice_payment_id, occurrence, body, traceparent)
       select n.event_id, n.merchant_id, n.event_type, n.payment_id, n.occurrence, n.body, n.traceparent
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[])
                with ordinality as n(event_id, merchant_id, event_type, choice, payment_id, occurrence, body, traceparent, place)
         join endpoint e on e.merchant_id = n.merchant_id and n.choice = any(e.events)
        order by n.occurrence, n.place
       on conflict (occurrence) where occurrence is not null do nothing
       returning event_id, merchant_id, coalesce(notice_payment_id = any($10::text[]) and precedes_paid(event_type), false) as is_overtaken
     ), queued as (
       insert into delivery (event_id, merchant_id, status, next_attempt_at, error_category)
       select event_id, merchant_id || $9, case when is_overtaken then 'failed' else 'pending' end,
              case when not is_overtaken then now() end, case when is_overtaken then 'superseded' end
         from stored
     )
     select merchant_id from stored where not is_overtaken`,
    [
      ...columns(notices, 'eventId', 'merchantId', 'type'),
      notices.map((notice) => noticeTypes[notice.type]),
      ...columns(notices, 'paymentId', 'occurrence', 'body'),
      ...[notices.map(sampledTrace), NOTICES, paid],
    ],
  );
  await makeNoticeLanesDueNow(
    tx,
    rows.map((row) => row.merchant_id),
  );
  return rows.length > 0;
}

/**
 * Prevents PAID events of these payments until the transaction ends. Call it before locking lanes.
 * @returns the payments that already have one.
 */
async function lockPaid(tx: Transaction, paymentIds: readonly string[]): Promise<string[]> {
  if (paymentIds.length === 0) return [];
  return onlyPaid(await tx.query<{ paid: string[] }>('select lock_paid($1) as paid', [paymentIds]));
}

/** As lockPaid(), for the payments of those of these events that must not follow PAID. */
export async function lockPaidOf(tx: Transaction, eventIds: readonly string[]): Promise<string[]> {
  if (eventIds.length === 0) return [];
  return onlyPaid(
    await tx.query<{ paid: string[] }>(
      `select lock_paid(array(
         select notice_payment_id from event
          where event_id = any($1) and notice_payment_id is not null and precedes_paid(event_type))) as paid`,
      [eventIds],
    ),
  );
}

const onlyPaid = ({ rows: [row] }: { rows: { paid: string[] }[] }): string[] => row?.paid ?? [];

/** Withdraws notices that must not follow PAID, and makes PAID wait for those in flight: see sql/take_back_notices.sql. */
export async function takeBackNotices(tx: Queryable, paymentIds: readonly string[]): Promise<void> {
  if (paymentIds.length > 0) await tx.query('select take_back_notices($1)', [paymentIds]);
}

/** These lanes and, for each notice lane, its merchant's PAID lane: the locks that takeBackNotices() needs. */
export const withPaidLanes = (lanes: readonly string[]): string[] =>
  lanes.flatMap((lane) => (isForNotices(lane) ? lanesOf(merchantOf(lane)) : lane));
