import { invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/operator-body.ts';
import { route } from '@quittance/http/route.ts';
import type { Route } from '@quittance/http/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Queries } from '../queries.ts';
import { startCycle } from '../store/retry.ts';
import { eventIdOf } from './params.ts';
import { replyTo } from './retry.ts';

const readRecovery = operatorBody({});

/**
 * What an operator can do for events that failed: see the oldest 100 of them, of one merchant or of all, and start a new cycle.
 * Recovering answers 202, 404 and 409 as a merchant's retry does, without its hourly limit; the body carries `{actor, reason}`.
 */
export const operatorRoutes = ({
  pool,
  queries,
  wake,
}: {
  pool: Pool;
  queries: Queries;
  wake: () => void;
}): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/events',
    handle: async ({ query }) => {
      if (query.get('status') !== 'failed') throw invalid({ field: 'status', reason: 'must be failed' });
      return { status: 200, body: { events: await queries.failedEvents(query.get('merchant_id')) } };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/events/:event_id/recover',
    handle: async (request) => {
      const { author } = await readRecovery(request);
      const retry = { eventId: eventIdOf(request), merchantId: null, author, action: 'event_recovered' } as const;
      const reply = replyTo(await transaction(pool, (tx) => startCycle(tx, retry)));
      wake();
      return reply;
    },
  }),
];
