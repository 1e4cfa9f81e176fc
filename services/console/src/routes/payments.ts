import { html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer, ReadAcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { FindPayments, paymentQueryOf } from '@quittance/contracts/http/payments/finding.ts';
import { LocateTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { CancelPaymentByOperator, ReadPayment } from '@quittance/contracts/http/payments/payments.ts';
import { ListDeliveries, ReadEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { isId, parseTransactionId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import type { Viewer } from '../pages/frame.ts';
import { show } from '../pages/parts.ts';
import { acceptQuestion, cancelQuestion, paymentPage } from '../pages/payment.ts';
import { foundTable, locatedTable, searchForm } from '../pages/payment-search.ts';
import { paymentStory } from '../pages/payment-story.ts';
import { textIn } from '../session/form.ts';
import { partOf, type Services } from '../upstream/services.ts';
import { actionRoute, pageRoute, type Context, type Visit } from './page-route.ts';

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
  pageRoute(context, '/payments/:payment_id/accept', async ({ request, services, viewer }) => {
    const { payment_id, transaction_id, transaction_event_index: index } = transferIn(request);
    const params = { payment_id, transaction_id, transaction_event_index: String(index) };
    const candidate = await services.call(ReadAcceptanceCandidate, { params });
    return {
      title: 'Accept a transfer',
      content: confirmation(viewer, {
        question: acceptQuestion(candidate),
        action: `/payments/${payment_id}/accept?transaction_id=${transaction_id}&index=${index}`,
        label: 'Accept',
        back: `/payments/${payment_id}`,
      }),
    };
  }),
  actionRoute(context, '/payments/:payment_id/accept', async ({ request, services, viewer }, form) => {
    const { payment_id, ...body } = transferIn(request);
    const author = { actor: viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    await services.call(AcceptTransfer, { params: { payment_id }, body, author });
    return `/payments/${payment_id}`;
  }),
];

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
