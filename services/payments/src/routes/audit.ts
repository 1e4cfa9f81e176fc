import { ReadPaymentsAudit } from '@quittance/contracts/http/payments/audit.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { readAudit } from '../store/audit.ts';

/** What operators did here to a merchant. Empty for an unknown merchant: only api-gateway knows which merchants exist. */
export const auditRoute = (db: Queryable): Route =>
  callRoute(ReadPaymentsAudit, async ({ params, query }) => {
    const entries = await readAudit(db, params.merchant_id, query.before);
    return { entries: entries.map(withTextTimes) };
  });
