import {
  ListDeliveries,
  ListFailedEvents,
  ReadDeliveries,
  ReadEvent,
  ReadEventOfPayment,
  ReadOwnEvent,
  RecoverEvent,
  RetryEvent,
  type DescribedEvent,
  type EventState,
  type OwnEvent,
} from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { conflict, HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { asMerchantsSee, type Queries, readArchivedDeliveries, readRetries } from './reads.sql.ts';
import { byMerchant } from '../endpoints/audit.sql.ts';
import { noticeLaneOf } from '../lanes/lane.sql.ts';
import { startCycle } from './retry.sql.ts';
import { readWaitingLanes, type PrivateTargetOf } from '../lanes/backlog.sql.ts';
import { CheckEvents } from '@quittance/contracts/http/check.ts';
import { checkEvents } from './check.sql.ts';

type Dependencies = { pool: Pool; queries: Queries; privateTargetOf: PrivateTargetOf; wake: () => void };

/**
 * The state of events, for merchants and operators, and manual retries. No URL, body or key is shown.
 * @param dependencies.wake wakes the deliver loop.
 */
export const eventRoutes = ({ pool, queries, privateTargetOf, wake }: Dependencies): Route[] => {
  /** @throws HttpError 404 or 409 if no cycle was started. */
  async function retry(event: Parameters<typeof startCycle>[1]): Promise<DeliveryRecord> {
    const result = await transaction(pool, (tx) => startCycle(tx, event));
    switch (result.outcome) {
      case 'started':
        wake();
        return result.delivery;
      case 'refused':
        throw conflict('event_not_retryable', 'Only a failed webhook event can be retried');
      case 'superseded':
        throw conflict('event_not_retryable', 'The payment is PAID, and this event must not follow that');
      case 'unknown_event':
        throw new HttpError(404, 'Webhook event not found');
    }
  }

  async function describe(event: EventState | null, before: Date | null): Promise<DescribedEvent> {
    if (event === null) throw new HttpError(404, 'Webhook event not found');
    const lane = event.event_type === null ? event.merchant_id : noticeLaneOf(event.merchant_id);
    const [attempts, retries, { lanes }] = await Promise.all([
      queries.attemptsOf(event.event_id, before),
      readRetries(pool, event),
      readWaitingLanes(pool, { lanes: [lane] }, privateTargetOf),
    ]);
    return { event, lane: lanes[0] ?? null, attempts, retries };
  }

  return [
    callRoute(ListDeliveries, async ({ params }) => ({
      deliveries: (await queries.deliveriesOf(params.merchant_id, params.payment_id)).map(asMerchantsSee),
    })),
    callRoute(RetryEvent, ({ params: { event_id: eventId, merchant_id: merchantId } }) =>
      retry({ eventId, merchantId, action: 'event_retried', author: byMerchant }),
    ),
    callRoute(RecoverEvent, ({ params: { event_id: eventId }, author }) =>
      retry({ eventId, merchantId: null, action: 'event_recovered', author }),
    ),
    callRoute(ListFailedEvents, ({ query: { status, merchant_id: merchantId, after } }) => {
      if (status === null) throw invalid({ field: 'status', reason: 'must be failed' });
      return queries.failedEvents({ merchantId, after });
    }),
    callRoute(ReadDeliveries, async ({ body }) => ({
      deliveries: await readArchivedDeliveries(pool, body.payment_ids),
    })),
    callRoute(ReadEvent, async ({ params, query }) =>
      describe(await queries.findEvent({ eventId: params.event_id }), query.before),
    ),
    callRoute(ReadOwnEvent, ({ params, query }) => ownEvent(queries, params, query.before)),
    callRoute(ReadEventOfPayment, async ({ params, query }) =>
      describe(await queries.findEvent({ paymentId: params.payment_id }), query.before),
    ),
  ];
};

/** @throws HttpError 404, also for another merchant's event. */
async function ownEvent(
  queries: Queries,
  { event_id: eventId, merchant_id: merchantId }: { event_id: string; merchant_id: string },
  before: Date | null,
): Promise<OwnEvent> {
  const event = await queries.findEvent({ eventId, merchantId });
  if (event === null) throw new HttpError(404, 'Webhook event not found');
  const attempts = await queries.attemptsOf(eventId, before);
  return {
    event: asMerchantsSee(event),
    attempts: attempts.map(({ remote_ip: _remoteIp, ...attempt }) => asMerchantsSee(attempt)),
  };
}

/** Checks the invariants of events and deliveries on a running system. It writes nothing. */
export const checkRoute = (db: Queryable): Route =>
  callRoute(CheckEvents, ({ query, body }) => checkEvents(db, body.payments, query.read_at ?? new Date()));
