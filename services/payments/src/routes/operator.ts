import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { pathParameter, route, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import {
  type AcceptanceContext,
  type AcceptanceRequest,
  acceptTransfer,
  findPair,
} from '../acceptance/accept-transfer.ts';
import { toAcceptance, toCandidate } from '../acceptance/acceptance-json.ts';
import type { Queries } from '../queries/payments.ts';
import { findAcceptanceOfPayment } from '../store/acceptance.ts';
import { readOperatorPayment } from '../views/operator-payment.ts';

/** The largest value of the ledger's integer column. */
const MAX_POSITION = 2 ** 31 - 1;

const readAcceptance = operatorBody<AcceptanceRequest['event']>(
  {
    transaction_id: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    transaction_event_index: { type: 'integer', minimum: 0, maximum: MAX_POSITION },
  },
  ['transaction_id', 'transaction_event_index'],
);

/** A payment as operators see it, and the one thing that can be done by hand: accepting a transfer for it. */
export const operatorRoutes = ({
  acceptance,
  queries,
  publicBaseUrl,
}: {
  acceptance: AcceptanceContext;
  queries: Queries;
  publicBaseUrl: string;
}): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/payments/:payment_id',
    handle: async ({ params }) => {
      const paymentId = pathParameter(params, 'payment_id');
      const payment = await readOperatorPayment(queries, paymentId, publicBaseUrl);
      if (payment === null) throw new HttpError(404, 'Payment not found');
      const accepted = await findAcceptanceOfPayment(acceptance.db, paymentId);
      return { status: 200, body: { ...payment, acceptance: accepted && toAcceptance(accepted) } };
    },
  }),
  // What accepting it would mean, for the person who decides.
  route({
    method: 'GET',
    path: '/internal/v1/payments/:payment_id/transfers/:transaction_id/:transaction_event_index',
    handle: async (request) => {
      const paymentId = pathParameter(request.params, 'payment_id');
      const pair = await findPair(acceptance.db, { paymentId, event: eventOf(request) });
      return { status: 200, body: toCandidate(pair) };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/payments/:payment_id/accept-transfer',
    handle: async (request) => {
      const { author, fields: event } = await readAcceptance(request);
      const paymentId = pathParameter(request.params, 'payment_id');
      return { status: 200, body: toAcceptance(await acceptTransfer(acceptance, { paymentId, event, author })) };
    },
  }),
];

function eventOf({ params }: RouteRequest): AcceptanceRequest['event'] {
  const position = pathParameter(params, 'transaction_event_index');
  if (!/^\d{1,10}$/.test(position) || Number(position) > MAX_POSITION)
    throw invalid({ field: 'transaction_event_index', reason: 'must be a whole number, 0 or more' });
  return { transaction_id: pathParameter(params, 'transaction_id'), transaction_event_index: Number(position) };
}
