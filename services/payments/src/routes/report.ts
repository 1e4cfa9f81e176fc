import { ReadReport } from '@quittance/contracts/http/payments/report.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createKeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import { readReport } from '../reports/report.ts';

/** Reports count at once, each on a connection that nobody else has meanwhile. */
const AT_ONCE = 2;

/** A merchant's reports wait for one another, so that those of a merchant with a million payments hold up nobody else's for long. */
export function reportRoute(db: Queryable): Route {
  const ofMerchant = createKeyedQueue({ perKey: 1 });
  const ofAll = createKeyedQueue({ perKey: AT_ONCE });
  return callRoute(ReadReport, ({ params: { merchant_id: merchantId }, query: { from, to, group, by } }) => {
    if (from === null || to === null) {
      throw invalid(
        ...[!from && 'from', !to && 'to'].flatMap((field) => (field ? [{ field, reason: 'is required' }] : [])),
      );
    }
    return ofMerchant(merchantId, () =>
      ofAll('', () => readReport(db, merchantId, { from, to, group: group ?? 'day', by: by ?? 'payment' })),
    );
  });
}
