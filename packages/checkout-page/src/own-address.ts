import { AMOUNT_DECIMALS, formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { fill, formatAmount, formatTransferred, groupedAmount } from './format.ts';
import type { Language } from './languages.ts';

/*
 * An address that one payment has for itself. Everything that arrives there counts for this payment, so the customer may send the
 * amount in parts, and is asked only for the rest.
 */

export const hasOwnAddress = ({ received = null }: CheckoutPayment): boolean => received !== null;

/** What has arrived at its own address; null if nothing has, and on a shared wallet. */
export const receivedMoney = ({ received = null }: CheckoutPayment): NonNullable<CheckoutPayment['received']> | null =>
  received?.amount === '0' ? null : received;

/** What the customer still has to send, as decimal text. It has as many decimals as the token if transfers had. */
export const amountToSend = (view: CheckoutPayment): string => receivedMoney(view)?.missing ?? view.payment.amount;

/** Whether more than the amount has arrived. */
export function isOverpaid(view: CheckoutPayment): boolean {
  const received = receivedMoney(view);
  const asked = formatUnits(parseAmount(view.payment.amount) ?? 0n, AMOUNT_DECIMALS);
  return received !== null && received.missing === '0' && received.amount !== asked;
}

/** The most characters of an amount with its currency that have room on one line of the smallest phone. */
const WHOLE_MAX = 16;

/** Puts an amount apart from the direction of the text around it, on one line with its currency where that has room. */
export const setApart =
  (language: Language) =>
  (amount: string): Html =>
    html`<bdi dir="ltr" ${amount.length <= WHOLE_MAX ? html`class="whole"` : []}
      >${groupedAmount(language, amount)}</bdi
    >`;

/** @param text has places for what arrived and for what was asked; the currency follows the second. */
export function receivedOf(
  view: CheckoutPayment,
  text: string,
  language: Language,
  mark: (amount: string) => Html = setApart(language),
): Html {
  const { amount, currency } = view.payment;
  return fill(text, {
    arrived: mark(formatTransferred(language, receivedMoney(view)?.amount ?? '0')),
    asked: mark(`${formatAmount(language, amount)} ${currency}`),
  });
}

/** Asks for what is missing. */
export const restText = (view: CheckoutPayment, language: Language): Html =>
  fill(language.texts.sendRest, {
    missing: setApart(language)(`${formatTransferred(language, amountToSend(view))} ${view.payment.currency}`),
  });
