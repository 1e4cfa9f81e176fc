import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { DeliveryRow } from './delivery-record.ts';
import { insertAudit } from './audit.ts';
import type { AuditedAuthor } from './audit.ts';
import { makeLanesDueNow, probeLaneNow } from './lane.ts';

export type RetryResult =
  | { outcome: 'started'; delivery: DeliveryRow }
  /** It is pending or delivered already. */
  | { outcome: 'refused' }
  | { outcome: 'unknown_event' };

/**
 * Starts a new cycle for a failed event, with its audit row: same event, same bytes, the endpoint and key of the next claim.
 * The guard lets exactly one of any number of calls at once start a cycle.
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
  // As everywhere, lanes before deliveries.
  await tx.query(
    `select from lane where merchant_id = (select merchant_id from event where event_id = $1) for update`,
    [retry.eventId],
  );
  const { rows } = await tx.query<DeliveryRow & { merchant_id: string }>(
    `update delivery d
        set status = 'pending', cycle = d.cycle + 1, cycle_started_at = now(), attempts = 0, error_category = null,
            next_attempt_at = now()
       from event e
      where d.event_id = $1 and e.event_id = d.event_id and ($2::text is null or d.merchant_id = $2) and d.status = 'failed'
     returning d.*, e.payment_id`,
    [retry.eventId, retry.merchantId],
  );
  const [delivery] = rows;
  if (delivery === undefined) return { outcome: (await isKnown(tx, retry)) ? 'refused' : 'unknown_event' };
  const { eventId, author, action } = retry;
  await insertAudit(tx, { merchantId: delivery.merchant_id, eventId, action, ...author });
  await probeLaneNow(tx, delivery.merchant_id);
  await makeLanesDueNow(tx, [delivery.merchant_id]);
  return { outcome: 'started', delivery };
}

async function isKnown(tx: Transaction, { eventId, merchantId }: { eventId: string; merchantId: string | null }) {
  const { rows } = await tx.query(
    `select 1 from event where event_id = $1 and ($2::text is null or merchant_id = $2)`,
    [eventId, merchantId],
  );
  return rows.length > 0;
}
