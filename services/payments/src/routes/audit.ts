import { queryMoment } from '@quittance/http/server/query-timestamp.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readAudit } from '../store/audit.ts';

/**
 * What operators did here to a merchant, newest first: at most a hundred, those before `before` if it is given. Empty for an unknown
 * merchant: only api-gateway knows which merchants exist.
 */
export const auditRoute = (db: Queryable): Route =>
  route({
    method: 'GET',
    path: '/internal/v1/merchants/:merchant_id/audit',
    handle: async ({ params, query }) => {
      const entries = await readAudit(db, pathParameter(params, 'merchant_id'), queryMoment(query, 'before'));
      return { status: 200, body: { entries: entries.map((entry) => ({ ...entry, at: rfc3339(entry.at) })) } };
    },
  });
