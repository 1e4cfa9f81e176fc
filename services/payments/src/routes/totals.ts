import { ReadTotals } from '@quittance/contracts/http/payments/totals.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { createKeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import { createTotals } from '../reports/totals.ts';

/** One after the other: what the first has counted, the next need not. */
export function totalsRoute(db: Queryable): Route {
  const totals = createTotals(db);
  const queue = createKeyedQueue({ perKey: 1 });
  return callRoute(ReadTotals, ({ query: { from, to } }) => {
    if (from === null || to === null)
      throw invalid(
        ...[!from && 'from', !to && 'to'].flatMap((field) => (field ? [{ field, reason: 'is required' }] : [])),
      );
    return queue('', () => totals({ from, to }));
  });
}
