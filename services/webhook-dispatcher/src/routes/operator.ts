import { isId } from '@quittance/contracts/ids.ts';
import { invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { queryMoment } from '@quittance/http/server/query-timestamp.ts';
import { route } from '@quittance/http/server/route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Queries } from '../queries.ts';
import { startCycle } from '../store/retry.ts';
import { diagnosisRoutes } from './diagnosis.ts';
import { eventIdOf, merchantIdOf } from './params.ts';
import { replyTo } from './retry.ts';

const readRecovery = operatorBody({});

/**
 * What an operator can do for events that failed: see them, of one merchant or of all, and start a new cycle. A list holds the
 * oldest 100 after the event named in `after`, and says in `total` how many there are.
 * Recovering answers 202, 404 and 409 as a merchant's retry does, without its hourly limit; the body carries `{actor, reason}`.
 * The audit of a merchant is empty for an unknown one: who exists is api-gateway's to say.
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
  ...diagnosisRoutes({ pool, queries }),
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
    path: '/internal/v1/merchants/:merchant_id/audit',
    handle: async (request) => {
      const entries = await queries.audit(merchantIdOf(request), queryMoment(request.query, 'before'));
      return { status: 200, body: { entries } };
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
