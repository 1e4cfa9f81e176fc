import { EVENT_INDEX_MAX } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { AcceptTransfer, ReadAcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { ReadPayment } from '@quittance/contracts/http/payments/payments.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { type AcceptanceContext, acceptTransfer, findPair } from '../acceptance/accept.ts';
import { findAcceptanceOfPayment } from '../acceptance/acceptance.sql.ts';
import { toAcceptance, toCandidate, readOperatorPayment } from './view.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { Queries } from './payments.sql.ts';
import { findCancellation } from '../payment/payment.sql.ts';
import type { ProgressSources } from '../payment/progress.ts';
import type { ReadWarnings } from '../payment/warnings.ts';
import { ReadPaymentsAudit } from '@quittance/contracts/http/audit.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { readAudit } from './audit.sql.ts';
import { CheckCounters, CheckLedger, CheckPayments } from '@quittance/contracts/http/check.ts';
import { earliestId } from '@quittance/contracts/ids.ts';
import { checkCounters, checkLedger, checkPayments } from './check.sql.ts';

/** A payment as operators see it, and their manual actions: accepting a transfer for it, and cancelling it. */
export const operatorRoutes = ({
  acceptance,
  queries,
  publicBaseUrl,
  progress,
  readWarnings,
}: {
  acceptance: AcceptanceContext;
  queries: Queries;
  publicBaseUrl: string;
  progress: ProgressSources;
  readWarnings: ReadWarnings;
}): Route[] => [
  callRoute(ReadPayment, async ({ params: { payment_id: paymentId } }) => {
    const payment = await readOperatorPayment(
      { db: acceptance.db, queries, readWarnings, ...progress },
      paymentId,
      publicBaseUrl,
    );
    if (payment === null) throw new HttpError(404, 'Payment not found');
    const [accepted, cancelled] = await Promise.all([
      findAcceptanceOfPayment(acceptance.db, paymentId),
      findCancellation(acceptance.db, paymentId),
    ]);
    return {
      ...payment,
      acceptance: accepted && toAcceptance(accepted),
      cancellation: cancelled && withTextTimes(cancelled),
    };
  }),
  callRoute(ReadAcceptanceCandidate, async ({ params }) => {
    const event = {
      transaction_id: params.transaction_id,
      transaction_event_index: toEventIndex(params.transaction_event_index),
    };
    return toCandidate(await findPair(acceptance, { paymentId: params.payment_id, event }));
  }),
  callRoute(AcceptTransfer, async ({ params, body: event, author }) =>
    toAcceptance(await acceptTransfer(acceptance, { paymentId: params.payment_id, event, author })),
  ),
];

function toEventIndex(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > EVENT_INDEX_MAX)
    throw invalid({ field: 'transaction_event_index', reason: 'must be a whole number, 0 or more' });
  return Number(text);
}

/** What operators did here to a merchant. Empty for an unknown merchant: only api-gateway knows which merchants exist. */
export const auditRoute = (db: Queryable): Route =>
  callRoute(ReadPaymentsAudit, async ({ params, query }) => {
    const entries = await readAudit(db, params.merchant_id, query.before);
    return { entries: entries.map(withTextTimes) };
  });

/** Rules that payments' rows must always satisfy, for operators to check on a running system. They write nothing. */
export const checkRoutes = (db: Queryable): Route[] => [
  callRoute(CheckPayments, ({ query: { since, after } }) =>
    checkPayments(db, { after: after ?? earliestId('pay', since ?? new Date(0)) }),
  ),
  callRoute(CheckCounters, ({ query: { after } }) => checkCounters(db, { after: after ?? '' })),
  callRoute(CheckLedger, async ({ body }) => ({ violations: await checkLedger(db, body.transfers) })),
];
