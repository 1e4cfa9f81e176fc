import { isId } from '@quittance/contracts/ids.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { queryMoment } from '@quittance/http/server/query-timestamp.ts';
import { pathParameter, route } from '@quittance/http/server/route.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { EventState, Queries } from '../queries.ts';
import { byMerchant } from '../store/audit.ts';
import { startCycle } from '../store/retry.ts';
import { readWaitingLanes } from '../store/waiting-lanes.ts';

type Dependencies = {
  pool: Pool;
  queries: Queries;
  /** Makes the deliver loop claim at once. */
  wake: () => void;
};

const readRecovery = operatorBody({});

/** How events are doing, for the merchant and for operators. Nothing here shows a URL, a body or a key. */
export const eventRoutes = ({ pool, queries, wake }: Dependencies): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/payments/:payment_id/deliveries',
    handle: async ({ params }) => {
      const [merchantId, paymentId] = [pathParameter(params, 'merchant_id'), pathParameter(params, 'payment_id')];
      return { status: 200, body: { deliveries: await queries.deliveriesOf(merchantId, paymentId) } };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/events',
    handle: async ({ query }) => {
      if (query.get('status') !== 'failed') throw invalid({ field: 'status', reason: 'must be failed' });
      const after = query.get('after');
      if (after !== null && !isId('evt', after)) throw invalid({ field: 'after', reason: 'must be an event id' });
      return { status: 200, body: await queries.failedEvents({ merchantId: query.get('merchant_id'), after }) };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/events/:event_id',
    handle: (request) => describe(request, { eventId: pathParameter(request.params, 'event_id') }, { pool, queries }),
  }),
  route({
    method: 'GET',
    path: '/internal/v1/payments/:payment_id/event',
    handle: (request) =>
      describe(request, { paymentId: pathParameter(request.params, 'payment_id') }, { pool, queries }),
  }),
  ...retryRoutes({ pool, wake }),
];

/** An event with its merchant's lane and its attempts, or 404: the newest hundred, those before the time in `before` if one is given. */
async function describe(
  { query }: RouteRequest,
  by: Parameters<Queries['findEvent']>[0],
  { pool, queries }: Pick<Dependencies, 'pool' | 'queries'>,
): Promise<Reply> {
  const before = queryMoment(query, 'before');
  const event: EventState | null = await queries.findEvent(by);
  if (event === null) throw new HttpError(404, 'Webhook event not found');
  const [attempts, { lanes }] = await Promise.all([
    queries.attemptsOf(event.event_id, before),
    readWaitingLanes(pool, { merchantId: event.merchant_id }),
  ]);
  return { status: 200, body: { event, lane: lanes[0] ?? null, attempts } };
}

/** Retries by hand: 202 with the record, 409 unless the event has failed, 404 when it does not exist or is another merchant's. */
function retryRoutes({ pool, wake }: Omit<Dependencies, 'queries'>): Route[] {
  async function retry(event: Parameters<typeof startCycle>[1]): Promise<{ status: 202; body: DeliveryRecord }> {
    const result = await transaction(pool, (tx) => startCycle(tx, event));
    switch (result.outcome) {
      case 'started':
        wake();
        return { status: 202, body: result.delivery };
      case 'refused':
        throw new HttpError(409, 'Only a failed webhook event can be retried');
      case 'unknown_event':
        throw new HttpError(404, 'Webhook event not found');
    }
  }
  return [
    route({
      method: 'POST',
      path: '/internal/v1/merchants/:merchant_id/events/:event_id/retry',
      handle: ({ params }) => {
        const [eventId, merchantId] = [pathParameter(params, 'event_id'), pathParameter(params, 'merchant_id')];
        return retry({ eventId, merchantId, action: 'event_retried', author: byMerchant });
      },
    }),
    route({
      method: 'POST',
      path: '/internal/v1/events/:event_id/recover',
      handle: async (request) => {
        const { author } = await readRecovery(request);
        const eventId = pathParameter(request.params, 'event_id');
        return retry({ eventId, merchantId: null, action: 'event_recovered', author });
      },
    }),
  ];
}
