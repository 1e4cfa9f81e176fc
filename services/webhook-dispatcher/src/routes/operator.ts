import { invalid } from '@quittance/http/errors.ts';
import { queryMoment } from '@quittance/http/server/query-timestamp.ts';
import { pathParameter, route } from '@quittance/http/server/route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Queries } from '../queries.ts';
import { readWaitingLanes } from '../store/waiting-lanes.ts';

/**
 * The hundred lanes that wait longest and how many wait: `held=true` those of blocked accounts, `merchant_id` one lane. And what was
 * done to a merchant's endpoint, empty for an unknown merchant.
 */
export const operatorRoutes = ({ pool, queries }: { pool: Pool; queries: Queries }): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/lanes',
    handle: async ({ query }) => {
      const held = query.get('held') ?? 'false';
      if (!['true', 'false'].includes(held)) throw invalid({ field: 'held', reason: 'must be true or false' });
      const merchantId = query.get('merchant_id');
      const which = merchantId === null ? { held: held === 'true' } : { merchantId };
      return { status: 200, body: await readWaitingLanes(pool, which) };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/audit',
    handle: async ({ params, query }) => {
      const entries = await queries.audit(pathParameter(params, 'merchant_id'), queryMoment(query, 'before'));
      return { status: 200, body: { entries } };
    },
  }),
];
