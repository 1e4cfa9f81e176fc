import { html, type Html } from '@quittance/checkout-page/html.ts';
import { qrCode } from '@quittance/checkout-page/qr.ts';
import { AcceptOwnTransfer, CancelOwnPayment, RetryOwnEvent } from '@quittance/contracts/api/calls.ts';
import type { PaymentDetails, UnmatchedTransfer } from '@quittance/contracts/api/payment.ts';
import { mayAct } from '@quittance/contracts/principal.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { invalid } from '@quittance/http/errors.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { MERCHANT_HOME } from '../cell.ts';
import type { MerchantViewer } from '../frame.ts';
import type { Context, OwnVisit } from '../page-route.ts';
import { button, given, ownAction } from './form.ts';

/** What staff does with one payment: cancel it, accept a transfer for it, and send its event again. */
export const actingRoutes = (context: Context): Route[] => [
  ownAction(context, '/my/cancel', async ({ services }, form) => {
    const id = named(form, 'payment_id');
    await services.call(CancelOwnPayment, { params: { payment_id: id } });
    return `${MERCHANT_HOME}/${id}`;
  }),
  ownAction(context, '/my/accept', async ({ services }, form) => {
    const id = named(form, 'payment_id');
    const [transaction, index, seen] = ['transaction_id', 'index', 'confirm_candidates'].map((name) =>
      given(form, name),
    );
    const body = {
      transaction_id: transaction,
      transaction_event_index: Number(index),
      ...(typeof seen === 'string' && { confirm_candidates: Number(seen) }),
    };
    await services.call(AcceptOwnTransfer, { params: { payment_id: id }, body });
    return `${MERCHANT_HOME}/${id}`;
  }),
  ownAction(context, '/my/send-again', async ({ services }, form) => {
    await services.call(RetryOwnEvent, { params: { event_id: named(form, 'event_id') } });
    const id = given(form, 'payment_id');
    return id === null ? '/my/webhooks' : `${MERCHANT_HOME}/${id}`;
  }),
];

function named(form: URLSearchParams, name: string): string {
  const value = given(form, name);
  if (value === null) throw invalid({ field: name, reason: 'is required' });
  return value;
}

/** What the customer needs, for as long as there is something to pay. */
export function sharePart(payment: PaymentDetails, { viewer }: OwnVisit): Html {
  if (payment.status !== 'PENDING') return html``;
  const { payment_url: url, amount, description } = payment;
  const subject = encodeURIComponent(description);
  const text = encodeURIComponent(`${description}\n\nPlease pay ${amount} USDT here:\n${url}\n`);
  return html`<section class="share">
    <h2>Send this to your customer</h2>
    <div class="code">${qrCode(url, 'The page on which your customer pays')}</div>
    <p>
      <span data-copy="${url}"><a href="${url}" rel="noreferrer">${url}</a></span>
    </p>
    <p class="actions"><a href="mailto:?subject=${subject}&amp;body=${text}">Write an e-mail</a></p>
    ${mayAct(viewer, 'staff') ? button({ viewer }, '/my/cancel', 'Cancel this payment', { payment_id: payment.payment_id }, 'danger') : []}
  </section>`;
}

/** Transfers that did not pay it, which staff may accept: the money is there, and the shop decides that it is enough. */
export function acceptPart(payment: PaymentDetails, viewer: MerchantViewer): Html {
  const open = payment.unmatched_transfers.filter(({ reason }) => reason !== 'paid_another');
  if (payment.status === 'PAID' || open.length === 0 || !mayAct(viewer, 'staff')) return html``;
  return html`<section>
    <h2>Accept a transfer for this payment</h2>
    <p>The payment becomes PAID, and your shop is told. This cannot be undone.</p>
    ${open.map((transfer) => acceptForm(payment, transfer, viewer))}
  </section>`;
}

function acceptForm({ payment_id, amount }: PaymentDetails, transfer: UnmatchedTransfer, viewer: MerchantViewer): Html {
  const { candidate_count: count } = transfer;
  const several = count > 1;
  return html`<div class="card">
    <p>${transfer.amount} of ${amount} USDT${several ? `, which may be for ${count} payments` : ''}</p>
    ${button(
      { viewer },
      '/my/accept',
      several ? `I know of these ${count} payments: accept it for this one` : 'Accept it',
      {
        ...{ payment_id, transaction_id: transfer.transaction_id, index: String(transfer.transaction_event_index) },
        ...(several && { confirm_candidates: String(count) }),
      },
    )}
  </div>`;
}

/** Events that have failed for good, until somebody sends them again. */
export const againPart = (deliveries: readonly DeliveryRecord[], viewer: MerchantViewer): Html => {
  const failed = deliveries.filter(({ status }) => status === 'failed');
  return failed.length === 0 || !mayAct(viewer, 'staff')
    ? html``
    : html`<section>
        <h2>Events that did not arrive</h2>
        ${failed.map(
          ({ event_id: id, event_type: type, payment_id: paymentId }) =>
            html`<div class="card">
              <p>${type ?? 'PAID'}, ${id}</p>
              ${button({ viewer }, '/my/send-again', 'Send it again', {
                event_id: id,
                ...(paymentId !== null && { payment_id: paymentId }),
              })}
            </div>`,
        )}
      </section>`;
};
