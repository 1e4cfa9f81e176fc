import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  AcceptTransfer,
  type AcceptanceCandidate,
  ReadAcceptanceCandidate,
} from '@quittance/contracts/http/payments/acceptance.ts';
import { FindPayments, paymentQueryOf } from '@quittance/contracts/http/payments/finding.ts';
import { LocateTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { CancelPaymentByOperator, ReadPayment } from '@quittance/contracts/http/payments/payments.ts';
import { ListDeliveries, ReadEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { isId, parseTransactionId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Reply, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import { page, type Viewer } from '../pages/frame.ts';
import { show } from '../pages/parts.ts';
import { acceptQuestion, candidatesQuestion, cancelQuestion, paymentPage } from '../pages/payment.ts';
import { foundTable, locatedTable, searchForm } from '../pages/payment-search.ts';
import { paymentStory } from '../pages/payment-story.ts';
import { optionalNumberIn } from '../session/fields.ts';
import { textIn } from '../session/form.ts';
import { partOf, type Services } from '../upstream/services.ts';
import { actionRoute, htmlReply, pageRoute, type Context, type Visit } from './page-route.ts';

/** Of a payment's events, the attempts of so many are shown: PAID comes first. */
const EVENTS_SHOWN = 5;

export const paymentRoutes = (context: Context): Route[] => [
  pageRoute(context, '/payments', async ({ request, services, viewer }) => {
    const text = (request.query.get('q') ?? '').trim();
    return {
      title: 'Payments',
      content: html`${searchForm(text)} ${text === '' ? [] : await found(services, viewer, text)}`,
    };
  }),
  pageRoute(context, '/payments/:payment_id', async ({ request, services, viewer }) => {
    const id = paymentIdIn(request);
    const payment = await services.call(ReadPayment, { params: { payment_id: id } });
    const events = await partOf(eventsOf(services, payment.merchant_id, id));
    return {
      title: `Payment ${id}`,
      content: html`${paymentPage(payment, viewer)} ${show(events, () => html``)}
      ${paymentStory(payment, 'silent' in events ? [] : events.value, viewer)}`,
    };
  }),
  pageRoute(context, '/payments/:payment_id/cancel', async ({ request, services, viewer }) => {
    const payment = await services.call(ReadPayment, { params: { payment_id: paymentIdIn(request) } });
    const path = `/payments/${payment.payment_id}`;
    return {
      title: 'Cancel a payment',
      content: confirmation(viewer, {
        ...{ question: cancelQuestion(payment), action: `${path}/cancel`, label: 'Cancel the payment', back: path },
      }),
    };
  }),
  actionRoute(context, '/payments/:payment_id/cancel', async ({ request, services, viewer }, form) => {
    const payment_id = paymentIdIn(request);
    const author = { actor: viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    await services.call(CancelPaymentByOperator, { params: { payment_id }, author });
    return `/payments/${payment_id}`;
  }),
  pageRoute(context, '/payments/:payment_id/accept', async (visit) => ({
    title: ACCEPT,
    content: acceptForm(visit, await candidateIn(visit)),
  })),
  actionRoute(context, '/payments/:payment_id/accept', async (visit, form) => {
    const { payment_id, ...transfer } = transferIn(visit.request);
    const author = { actor: visit.viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    const confirmed = optionalNumberIn(form, 'confirm_candidates');
    const body = { ...transfer, ...(confirmed !== null && { confirm_candidates: confirmed }) };
    try {
      await visit.services.call(AcceptTransfer, { params: { payment_id }, body, author });
    } catch (error) {
      const again = await acceptAgain(visit, confirmed, error);
      if (again === null) throw error;
      return again;
    }
    return `/payments/${payment_id}`;
  }),
];

const ACCEPT = 'Accept a transfer';

const acceptForm = ({ viewer }: Visit, candidate: AcceptanceCandidate): Html => {
  const { payment_id: id, transaction_id: transaction, transaction_event_index: index } = candidate;
  return confirmation(viewer, {
    question: acceptQuestion(candidate),
    more: candidatesQuestion(candidate),
    action: `/payments/${id}/accept?transaction_id=${transaction}&index=${index}`,
    label: 'Accept',
    back: `/payments/${id}`,
  });
};

function candidateIn({ request, services }: Visit): Promise<AcceptanceCandidate> {
  const { transaction_event_index: index, ...ids } = transferIn(request);
  return services.call(ReadAcceptanceCandidate, { params: { ...ids, transaction_event_index: String(index) } });
}

/**
 * The question once more, when the transfer may be for other payments than the page said: the ledger may have it only since it was asked.
 * @returns null when it was refused for another reason.
 */
async function acceptAgain(visit: Visit, confirmed: number | null, error: unknown): Promise<Reply | null> {
  if (!(error instanceof HttpError) || error.status !== 409) return null;
  const candidate = await candidateIn(visit);
  if (candidate.candidates.length === (confirmed ?? Math.min(candidate.candidates.length, 1))) return null;
  const problem = html`<p class="problem" role="alert">Look again: the payments that it may be for have changed.</p>`;
  return htmlReply(409, page(ACCEPT, visit.viewer, html`${problem} ${acceptForm(visit, candidate)}`));
}

/** By whatever names it; of a transaction also where its money is. */
async function found(services: Services, viewer: Viewer, text: string) {
  const query = paymentQueryOf(text);
  if (query === null)
    return html`<p class="problem" role="alert">Nothing that a payment is found by looks like this.</p>`;
  const transactionId = parseTransactionId(text);
  const [payments, located] = await Promise.all([
    services.call(FindPayments, { query }),
    transactionId === null
      ? null
      : partOf(services.call(LocateTransfers, { params: { transaction_id: transactionId } })),
  ]);
  return html`${foundTable(payments.payments)}
  ${located === null ? [] : show(located, (known) => locatedTable(known, viewer))}`;
}

async function eventsOf(services: Services, merchantId: string, paymentId: string) {
  const params = { merchant_id: merchantId, payment_id: paymentId };
  const { deliveries } = await services.call(ListDeliveries, { params });
  return Promise.all(
    deliveries.slice(0, EVENTS_SHOWN).map(({ event_id: id }) => services.call(ReadEvent, { params: { event_id: id } })),
  );
}

/** @throws HttpError 404. */
function paymentIdIn({ params }: Visit['request']): string {
  const id = pathParameter(params, 'payment_id');
  if (!isId('pay', id)) throw new HttpError(404, 'Payment not found');
  return id;
}

/** @throws HttpError 404. */
function transferIn(request: Visit['request']) {
  const transactionId = parseTransactionId(request.query.get('transaction_id') ?? '');
  const index = request.query.get('index') ?? '';
  if (transactionId === null || !/^\d{1,9}$/.test(index)) throw new HttpError(404, 'Transfer not found');
  return {
    payment_id: paymentIdIn(request),
    transaction_id: transactionId,
    transaction_event_index: Number(index),
  };
}
