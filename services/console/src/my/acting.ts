import { html, type Html } from '@quittance/checkout-page/html.ts';
import { qrCode } from '@quittance/checkout-page/qr.ts';
import { CancelOwnPayment, RetryOwnEvent } from '@quittance/contracts/api/calls.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { mayAct } from '@quittance/contracts/principal.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { MERCHANT_HOME } from '../cell.ts';
import type { MerchantViewer } from '../frame.ts';
import type { Context, OwnVisit } from '../page-route.ts';
import { button, given, named, ownAction } from './form.ts';

/** What staff does with one payment: cancel it, and send its event again. */
export const actingRoutes = (context: Context): Route[] => [
  ownAction(context, '/my/cancel', async ({ services }, form) => {
    const id = named(form, 'payment_id');
    await services.call(CancelOwnPayment, { params: { payment_id: id } });
    return `${MERCHANT_HOME}/${id}`;
  }),
  ownAction(context, '/my/send-again', async ({ services }, form) => {
    await services.call(RetryOwnEvent, { params: { event_id: named(form, 'event_id') } });
    const id = given(form, 'payment_id');
    return id === null ? '/my/webhooks' : `${MERCHANT_HOME}/${id}`;
  }),
];

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
