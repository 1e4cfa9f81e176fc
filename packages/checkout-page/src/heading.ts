import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { amountText } from './facts.ts';
import { fill, formatCountdown, formatNumber, formatTransferred, formatUtcTime } from './format.ts';
import type { Language } from './languages.ts';
import { hasOwnAddress, receivedMoney, receivedOf, restText, setApart } from './own-address.ts';
import { contact } from './payee.ts';
import type { Shop } from './shop.ts';
import { arrivedMoney, baseState, checkoutState, icons } from './state.ts';

/** What has happened to the payment, what to do now, and how long for. */
export function heading(view: CheckoutPayment, shop: Shop, language: Language): Html {
  const state = checkoutState(view);
  return html`<header>
    ${icons[state]}
    <h1 tabindex="-1">${title(view, language, setApart(language))}</h1>
    ${state === 'waiting' ? countdown(view, language) : []}
    ${state === 'paid' ? html`<p>${paidAmount(view, language)}</p>` : []} ${lead(view, language)}
    ${state === 'arrived' || state === 'frozen' ? contact(shop, view, language) : []}
    ${state === 'seen' ? progress(view.confirmations, language) : []}
  </header>`;
}

/** @param mark what the amount that arrived stands in, with its currency; an attribute and the browser's tab take text alone. */
export function title(
  view: CheckoutPayment,
  language: Language,
  mark = (amount: string): Html => html`${amount}`,
): Html {
  const arrived = arrivedMoney(view);
  const { texts } = language;
  if (isPartlyPaid(view)) return receivedOf(view, texts.received, language, mark);
  if (arrived === null) return html`${texts[baseState(view)].title}`;
  return fill(texts.arrived.title, {
    amount: mark(`${formatTransferred(language, arrived.amount)} ${view.payment.currency}`),
  });
}

/** Whether it waits for the rest. */
export const isPartlyPaid = (view: CheckoutPayment): boolean =>
  baseState(view) === 'waiting' && receivedMoney(view) !== null;

/** At its own address a payment may be paid by a little less, which is said. */
function paidAmount(view: CheckoutPayment, language: Language): Html {
  const isLess = (receivedMoney(view)?.missing ?? '0') !== '0';
  return isLess ? receivedOf(view, language.texts.received, language) : amountText(view, language);
}

function lead(view: CheckoutPayment, language: Language): Html | [] {
  const { texts } = language;
  const state = checkoutState(view);
  if (state === 'waiting') return isPartlyPaid(view) ? html`<p class="lead">${restText(view, language)}</p>` : [];
  const isLate = state === 'arrived' && hasOwnAddress(view);
  const late = view.payment.status === 'CANCELLED' ? texts.cancelledReceived : texts.expiredReceived;
  return html`<p class="lead">${isLate ? late : texts[state].text}</p>`;
}

/** Without script it shows the time that was left when the page was rendered. */
export function countdown({ payment, server_time: now }: CheckoutPayment, language: Language): Html {
  const { texts } = language;
  const seconds = Math.ceil((Date.parse(payment.expires_at) - Date.parse(now)) / 1000);
  return html`<p class="clock">
    <span>${texts.timeLeft}</span>
    <bdi class="countdown" role="timer" aria-label="${texts.timeLeft}">${formatCountdown(language, seconds)}</bdi>
    <span class="until"
      >${texts.payBefore}
      <time datetime="${payment.expires_at}">${formatUtcTime(language, payment.expires_at)}</time></span
    >
  </p>`;
}

function progress(confirmations: CheckoutPayment['confirmations'], language: Language): Html {
  // Empty until confirmations are known; the script fills it.
  if (confirmations === null) return html`<div class="progress" data-live></div>`;
  const { texts } = language;
  const { seen, required } = confirmations;
  const counted = fill(texts.confirmations, {
    seen: formatNumber(language, seen),
    required: formatNumber(language, required),
  });
  return html`<div class="progress" data-live>
    <progress value="${String(seen)}" max="${String(required)}" aria-label="${counted}"></progress>
    <p>${counted}</p>
    ${seen >= required ? html`<p>${texts.awaitingFinality} ${texts.finalityHint}</p>` : []}
  </div>`;
}
