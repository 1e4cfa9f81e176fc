import { CheckUsage } from '@quittance/contracts/http/quota.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queries } from '../queries.ts';

/** Compares the usage history with payments on a running system. It writes nothing. */
export const checkRoute = (queries: Queries): Route =>
  callRoute(CheckUsage, async ({ query: { until }, body }) => {
    if (until === null) throw invalid({ field: 'until', reason: 'is required' });
    return { violations: await queries.otherUsage(body.merchants, until) };
  });
