import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ListPayments, ReadOwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import { ListDeliveries, ReadOwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import {
  type PaymentDetails,
  type PaymentStatus,
  type ReceivedTransfer,
  type UnmatchedTransfer,
} from '@quittance/contracts/api/payment.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { paymentId } from '@quittance/operator/field.ts';
import { paymentsTable, priceFacts } from '@quittance/operator/payments.ts';
import { reasonsView } from '@quittance/operator/transfers.ts';
import { amount, badge, facts, tableIfAny, walletOf, words, type Value, type View } from '@quittance/operator/view.ts';
import { MERCHANT_HOME } from '../cell.ts';
import { filtersIn, goOn, listForm, queryOf } from '../payment-list.ts';
import { problemOf } from '../payments.ts';
import { inPath, isMerchant, ownPage, paramsOf, visitRoute, type Context, type OwnVisit } from '../page-route.ts';
import { askForProof, proofFile, proofPart } from '../proof.ts';
import { partOf } from '../services.ts';
import { acceptPart } from './accept.ts';
import { againPart, sharePart } from './acting.ts';
import { foundPart } from './finding.ts';
import { ownStoryPart, warningsPart } from '../story.ts';
import { hero, render, show } from '../view.ts';

/** Of a payment's events, the attempts of so many are shown: PAID comes first. */
const EVENTS_SHOWN = 5;

/** A merchant's payments: listed, found by whatever names them, and one with everything that happened to it. */
export const ownPaymentRoutes = (context: Context): Route[] => [
  ownPage(context, MERCHANT_HOME, async (visit) => {
    const text = textOf(visit, 'q');
    const filters = filtersIn(visit.request);
    return {
      title: 'Payments',
      content: html`${listForm(MERCHANT_HOME, text, filters)} ${text === '' ? [] : await foundPart(visit, text)}
      ${await listed(visit, text, filters)}`,
    };
  }),
  ownPage(context, `${MERCHANT_HOME}/:payment_id`, async (visit) => {
    const { services, viewer } = visit;
    const params = paymentIn(visit);
    const payment = await services.call(ReadOwnPayment, { params });
    const [events, proof] = await Promise.all([
      partOf(eventsOf(visit, params.payment_id)),
      askForProof(services, { ...params, status: payment.status }),
    ]);
    return {
      title: `Payment ${payment.reference}`,
      content: html`${hero(payment.amount, payment.currency, payment.status, viewer)} ${warningsPart(payment.warnings)}
      ${sharePart(payment, visit)} ${acceptPart(payment, viewer)}
      ${show(events, (known) =>
        againPart(
          known.map(({ event }) => event),
          viewer,
        ),
      )}
      ${render(ownPaymentView(payment), viewer)} ${proofPart(proof, `${MERCHANT_HOME}/${params.payment_id}`)}
      ${show(events, (known) => ownStoryPart(payment, known))}`,
      ...(unfinished.includes(payment.status) && { headers: { refresh: String(LOOK_AGAIN_SECONDS) } }),
    };
  }),
  visitRoute(context, 'GET', `${MERCHANT_HOME}/:payment_id/proof`, isMerchant, (visit) =>
    proofFile(visit.services, paymentIn(visit)),
  ),
];

/** @throws HttpError 404. */
const paymentIn = ({ request, viewer }: OwnVisit) => ({
  ...paramsOf(viewer).params,
  payment_id: inPath(request, 'payment_id', paymentId, 'Payment not found'),
});

/** Shown again by itself, so that a person sees the money arrive. */
const LOOK_AGAIN_SECONDS = 15;
const unfinished: readonly PaymentStatus[] = ['PENDING', 'CHECKING'];

const textOf = ({ request }: OwnVisit, name: string): string => (request.query.get(name) ?? '').trim();

/** By texts and filters. What names a payment exactly, foundPart() finds however old it is. */
async function listed(
  { services, viewer }: OwnVisit,
  text: string,
  filters: ReturnType<typeof filtersIn>,
): Promise<Html> {
  try {
    const query = { ...queryOf(filters), text: text || undefined };
    const page = await services.call(ListPayments, { ...paramsOf(viewer), query });
    const given = { ...filters, ...(text !== '' && { q: text }) };
    return html`${render([paymentsTable(page.payments, 'newest first')], viewer)} ${goOn(MERCHANT_HOME, given, page)}`;
  } catch (error) {
    return problemOf(error);
  }
}

async function eventsOf({ services, viewer }: OwnVisit, paymentId: string) {
  const { merchant_id: merchantId } = viewer;
  const params = { merchant_id: merchantId, payment_id: paymentId };
  const { deliveries } = await services.call(ListDeliveries, { params });
  const shown = deliveries
    .slice(0, EVENTS_SHOWN)
    .map(({ event_id: id }) => ({ merchant_id: merchantId, event_id: id }));
  return Promise.all(shown.map((event) => services.call(ReadOwnEvent, { params: event })));
}

/** What a payment is, as its merchant sees it: with the texts that it was created with. */
const ownPaymentView = (payment: PaymentDetails): View => [
  facts({
    status: badge(payment.status),
    amount: amount(payment.amount, payment.currency),
    requested: amount(payment.requested_amount, payment.currency),
    ...priceFacts(payment),
    wallet: [walletOf(payment), ` on ${payment.network}${payment.dedicated ? ', its own' : ''}`],
    'arrived there': amount(payment.received_amount, payment.currency),
    description: payment.description,
    order: payment.order_id,
    reference: payment.reference,
    checkout: payment.payment_url,
    'leads back to': payment.return_url,
    expires: payment.expires_at,
    ...transactionFacts(payment),
  }),
  ...tableIfAny('metadata', Object.entries(payment.metadata), {
    name: ([name]: [string, string]) => name,
    value: ([, value]: [string, string]) => value,
  }),
  ...tableIfAny('transfers to its own address', payment.transfers, {
    'block time': 'block_timestamp',
    received: (transfer: ReceivedTransfer) => amount(transfer.amount),
    confirmed: ({ confirmed }: ReceivedTransfer) => (confirmed ? 'yes' : 'not yet'),
    counts: ({ counts }: ReceivedTransfer) => (counts ? 'yes' : 'no'),
    transaction: ({ transaction_id: hash }: ReceivedTransfer) => ({ hash, network: payment.network }),
  }),
  ...tableIfAny('unmatched transfers', payment.unmatched_transfers, {
    reason: ({ reason }) => badge(reason),
    received: (transfer) => amount(transfer.amount),
    'may be for': possibleText,
    'block time': 'block_timestamp',
    transaction: ({ transaction_id: hash }) => ({ hash, network: payment.network }),
  }),
  ...reasonsView(payment.unmatched_transfers),
];

/** It does not name the other payments, which may be another merchant's; the page of unmatched transfers names the own ones. */
function possibleText({ reason, candidate_count: count }: UnmatchedTransfer): string {
  if (reason === 'paid_another') return 'it paid another payment';
  return count <= 1 ? 'this payment' : `${count} payments, this one included`;
}

function transactionFacts({ transaction, network }: PaymentDetails): Record<string, Value> {
  if (transaction === null) return {};
  const { confirmations, confirmations_required: required, waiting_for: waiting } = transaction;
  return {
    transaction: { hash: transaction.transaction_id, network },
    received: [amount(transaction.amount), transaction.accepted ? ', accepted manually' : ''],
    'block time': transaction.block_timestamp,
    confirmations: `${confirmations} of ${required}`,
    'waits for': waiting === null ? null : words(waiting),
  };
}
