import { EVENT_INDEX_MAX } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { AcceptTransfer, ReadAcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { ReadPayment } from '@quittance/contracts/http/payments/payments.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { type AcceptanceContext, acceptTransfer, findPair } from '../acceptance/accept-transfer.ts';
import { toAcceptance, toCandidate } from '../acceptance/acceptance-json.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { Queries } from '../queries/payments.ts';
import { findAcceptanceOfPayment } from '../store/acceptance.ts';
import { findCancellation } from '../store/cancellation.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import { readOperatorPayment } from '../views/operator-payment.ts';
import type { ReadWarnings } from '../views/warnings.ts';
import { operatorCancelRoute } from './cancel-payment.ts';

/** A payment as operators see it, and what can be done to it by hand: accepting a transfer for it, and cancelling it. */
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
  operatorCancelRoute({ ...acceptance, publicBaseUrl }),
];

function toEventIndex(text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > EVENT_INDEX_MAX)
    throw invalid({ field: 'transaction_event_index', reason: 'must be a whole number, 0 or more' });
  return Number(text);
}
