import { noticeTypes, type NoticeType } from '@quittance/contracts/webhook.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { sampledTrace } from './event.ts';
import { makeNoticeLanesDueNow, NOTICES } from './lane.ts';
import { lockPaid } from './order.ts';

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

/**
 * Stores notices, due at once, for merchants who choose their type now. The rows are written in order, so that two batches about the
 * same do not wait for each other. One that the PAID event of its payment has overtaken is stored as taken back.
 * @returns whether any of them is to be sent.
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
      ...[notices.map((notice) => notice.eventId), notices.map((notice) => notice.merchantId)],
      ...[notices.map((notice) => notice.type), notices.map((notice) => noticeTypes[notice.type])],
      ...[notices.map((notice) => notice.paymentId), notices.map((notice) => notice.occurrence)],
      ...[notices.map((notice) => notice.body), notices.map(sampledTrace), NOTICES, paid],
    ],
  );
  await makeNoticeLanesDueNow(
    tx,
    rows.map((row) => row.merchant_id),
  );
  return rows.length > 0;
}
