import { noticeTypes, type NoticeType } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';
import { sampledTrace } from './event.ts';
import { lockLanes, makeNoticeLanesDueNow, NOTICES, probeLanesNow } from './lane.ts';

/** An event of another type than PAID, with the bytes that will be sent. */
export type NewNotice = {
  eventId: string;
  merchantId: string;
  type: NoticeType;
  /** Null for a transfer that fits no payment. */
  paymentId: string | null;
  /** What it is about: of several notices about the same the first stays. */
  occurrence: string;
  body: Buffer;
  traceparent?: string | null;
};

/** These say that nobody is going to pay, which a PAID event contradicts. */
const overtakenByPaid = ['payment.expired', 'payment.cancelled'] as const satisfies readonly NoticeType[];

/**
 * Stores notices, due at once, for merchants who choose their type now. The rows are written in order, so that two batches about the
 * same do not wait for each other.
 * @returns whether any of them is new.
 */
export async function insertNotices(tx: Transaction, notices: readonly NewNotice[]): Promise<boolean> {
  const { rows } = await tx.query<{ merchant_id: string }>(
    `with stored as (
       insert into event (event_id, merchant_id, event_type, notice_payment_id, occurrence, body, traceparent)
       select n.event_id, n.merchant_id, n.event_type, n.payment_id, n.occurrence, n.body, n.traceparent
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[])
                with ordinality as n(event_id, merchant_id, event_type, choice, payment_id, occurrence, body, traceparent, place)
         join endpoint e on e.merchant_id = n.merchant_id and n.choice = any(e.events)
        order by n.occurrence, n.place
       on conflict (occurrence) where occurrence is not null do nothing
       returning event_id, merchant_id
     ), queued as (
       insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, merchant_id || $9, now() from stored
     )
     select merchant_id from stored`,
    [
      ...[notices.map((notice) => notice.eventId), notices.map((notice) => notice.merchantId)],
      ...[notices.map((notice) => notice.type), notices.map((notice) => noticeTypes[notice.type])],
      ...[notices.map((notice) => notice.paymentId), notices.map((notice) => notice.occurrence)],
      ...[notices.map((notice) => notice.body), notices.map(sampledTrace), NOTICES],
    ],
  );
  await makeNoticeLanesDueNow(
    tx,
    rows.map((row) => row.merchant_id),
  );
  return rows.length > 0;
}

/** Of claimed notices those whose payments have become PAID since, while nobody has asked for them again. */
export async function findOvertaken(db: Queryable, eventIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ event_id: string }>(
    `select n.event_id
       from event n
       join event paid on paid.payment_id = n.notice_payment_id
       join delivery d on d.event_id = n.event_id and d.cycle = 1
      where n.event_id = any($1) and n.event_type = any($2)`,
    [eventIds, overtakenByPaid],
  );
  return rows.map((row) => row.event_id);
}

/**
 * Ends notices that this process has claimed, unsent: no receiver must take a paid payment for one that nobody pays. They can be retried
 * by hand, as any failed event.
 */
export async function withdrawNotices(
  tx: Transaction,
  notices: readonly { event_id: string; lease_id: string; merchant_id: string }[],
): Promise<void> {
  const lanes = [...new Set(notices.map((notice) => notice.merchant_id))];
  await lockLanes(tx, lanes);
  await tx.query(
    `update delivery d
        set status = 'failed', next_attempt_at = null, lease_id = null, error_category = coalesce(d.error_category, 'interrupted')
       from unnest($1::text[], $2::uuid[]) as n(event_id, lease_id)
      where d.event_id = n.event_id and d.lease_id = n.lease_id and d.status = any($3)`,
    [notices.map((notice) => notice.event_id), notices.map((notice) => notice.lease_id), statusesBefore('failed')],
  );
  // One of them may have been a probe, whose result would be waited for.
  await probeLanesNow(tx, lanes);
}
