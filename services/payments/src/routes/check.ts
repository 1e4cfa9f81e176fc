import { CheckCounters, CheckLedger, CheckPayments } from '@quittance/contracts/http/payments/check.ts';
import { earliestId } from '@quittance/contracts/ids.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { checkCounters, checkLedger, checkPayments } from '../queries/check.ts';

/** What must always hold of payments' rows, for operators to look at on a running system. They write nothing. */
export const checkRoutes = (db: Queryable): Route[] => [
  callRoute(CheckPayments, ({ query: { since, after } }) =>
    checkPayments(db, { after: after ?? earliestId('pay', since ?? new Date(0)) }),
  ),
  callRoute(CheckCounters, ({ query: { after } }) => checkCounters(db, { after: after ?? '' })),
  callRoute(CheckLedger, async ({ body }) => ({ violations: await checkLedger(db, body.transfers) })),
];
