import type { DeliveryRecord, DeliveryStatus } from '@quittance/contracts/webhook.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { insertAudit, type AuditedAuthor } from '../endpoints/audit.sql.ts';
import { makeLanesDueNow, probeLanesNow } from '../lanes/lane.sql.ts';
import { lockPaidOf, recordColumns, type RecordRow } from './event.sql.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';

export type RetryResult =
  | { outcome: 'started'; delivery: DeliveryRecord }
  /** It is pending or delivered. */
  | { outcome: 'refused' }
  /** Its payment is PAID, and the event must not follow PAID. */
  | { outcome: 'superseded' }
  | { outcome: 'unknown_event' };

/**
 * Starts a new cycle of attempts for a failed event, and audits it: same event, same bytes, the endpoint and key of the next claim.
 * The guard on the status lets exactly one of several concurrent calls start a cycle.
 * @param retry.merchantId limits it to the merchant's own events; null for an operator.
 */
export async function startCycle(
  tx: Transaction,
  retry: {
    eventId: string;
    merchantId: string | null;
    author: AuditedAuthor;
    action: 'event_retried' | 'event_recovered';
  },
): Promise<RetryResult> {
  if ((await lockPaidOf(tx, [retry.eventId])).length > 0) return refusal(tx, retry, 'superseded');
  // As everywhere, lanes before deliveries.
  await tx.query(
    `select from lane where merchant_id = (select merchant_id from delivery where event_id = $1) for update`,
    [retry.eventId],
  );
  const { rows } = await tx.query<RecordRow & { merchant_id: string; lane: string }>(
    `update delivery d
        set status = 'pending', cycle = d.cycle + 1, cycle_started_at = now(), attempts = 0, error_category = null,
            next_attempt_at = now()
       from event e
      where d.event_id = $1 and e.event_id = d.event_id and ($2::text is null or e.merchant_id = $2) and d.status = 'failed'
     returning ${recordColumns}, e.merchant_id, d.merchant_id as lane`,
    [retry.eventId, retry.merchantId],
  );
  const [row] = rows;
  if (row === undefined) return refusal(tx, retry, 'refused');
  const { merchant_id: merchantId, lane, ...delivery } = row;
  const { eventId, author, action } = retry;
  await insertAudit(tx, { merchantId, eventId, action, ...author });
  await probeLanesNow(tx, [lane]);
  await makeLanesDueNow(tx, [lane]);
  return { outcome: 'started', delivery: withTextTimes(delivery) };
}

/** @param ofFailed the outcome for a failed event. Other events are refused because they have not failed. */
async function refusal(
  tx: Transaction,
  { eventId, merchantId }: { eventId: string; merchantId: string | null },
  ofFailed: 'refused' | 'superseded',
): Promise<RetryResult> {
  const { rows } = await tx.query<{ status: DeliveryStatus }>(
    `select d.status from event e join delivery d on d.event_id = e.event_id
      where e.event_id = $1 and ($2::text is null or e.merchant_id = $2)`,
    [eventId, merchantId],
  );
  const [row] = rows;
  if (row === undefined) return { outcome: 'unknown_event' };
  return { outcome: row.status === 'failed' ? ofFailed : 'refused' };
}
