import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { formatUtcTime } from './format.ts';
import type { Language } from './languages.ts';

/**
 * When a payment was paid, and a button that prints the page. Anyone may have the link, and with the time they could find the payer: so only
 * a reader who has named the transaction gets it from the server. In a tab that saw the payment become PAID, the script shows the time at
 * which it did.
 */
export function receipt(view: CheckoutPayment, language: Language): Html | [] {
  if (view.payment.status !== 'PAID') return [];
  const { texts } = language;
  const isKnown = view.lookup?.outcome === 'pays_this_payment';
  const time = (isKnown && view.paid_at) || null;
  return html`<div class="receipt" ${time === null ? html`hidden` : []}>
    <p>
      ${texts.paidAt}
      ${time === null ? html`<time></time>` : html`<time datetime="${time}">${formatUtcTime(language, time)}</time>`}
    </p>
    <button type="button" class="print" hidden>${texts.print}</button>
  </div>`;
}
