import { HttpError, invalid } from '@quittance/http/errors.ts';
import { queryMoment } from '@quittance/http/server/query-timestamp.ts';
import { route } from '@quittance/http/server/route.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { EventState, Queries } from '../queries.ts';
import { readWaitingLanes } from '../store/waiting-lanes.ts';
import { eventIdOf, paymentIdOf } from './params.ts';

/**
 * What an operator reads to find out why an event did not arrive; nothing here shows a URL, a body or a key.
 * An event is found by its id or its payment's: `{event, lane, attempts}`, or 404. `lane` is its merchant's queue, and of the attempts
 * the newest hundred come, those that began before the moment in `before` if one is given.
 * `/lanes` has the hundred lanes that wait longest and how many wait: `held=true` those of blocked accounts, `merchant_id` one lane.
 */
export const diagnosisRoutes = ({ pool, queries }: { pool: Pool; queries: Queries }): Route[] => {
  const describe = async (event: EventState | null, query: URLSearchParams): Promise<Reply> => {
    const before = queryMoment(query, 'before');
    if (event === null) throw new HttpError(404, 'Webhook event not found');
    const [attempts, { lanes }] = await Promise.all([
      queries.attemptsOf(event.event_id, before),
      readWaitingLanes(pool, { merchantId: event.merchant_id }),
    ]);
    return { status: 200, body: { event, lane: lanes[0] ?? null, attempts } };
  };
  return [
    route({
      method: 'GET',
      path: '/internal/v1/events/:event_id',
      handle: async (request) => describe(await queries.findEvent({ eventId: eventIdOf(request) }), request.query),
    }),
    route({
      method: 'GET',
      path: '/internal/v1/payments/:payment_id/event',
      handle: async (request) => describe(await queries.findEvent({ paymentId: paymentIdOf(request) }), request.query),
    }),
    route({
      method: 'GET',
      path: '/internal/v1/lanes',
      handle: async ({ query }) => {
        const held = query.get('held') ?? 'false';
        if (!['true', 'false'].includes(held)) throw invalid({ field: 'held', reason: 'must be true or false' });
        const merchantId = query.get('merchant_id');
        return {
          status: 200,
          body: await readWaitingLanes(pool, merchantId === null ? { held: held === 'true' } : { merchantId }),
        };
      },
    }),
  ];
};
