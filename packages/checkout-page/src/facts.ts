import { networkName, tokenStandard, type Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { fill, formatAmount, formatTransferred, groupedAmount } from './format.ts';
import type { Language } from './languages.ts';
import { hasOwnAddress, receivedMoney } from './own-address.ts';
import { arrivedMoney } from './state.ts';

/** The facts of a payment that cannot be paid, or not any more. What the reader needs now comes first. */
export function facts(view: CheckoutPayment, network: Network | null, language: Language): Html[] {
  const { texts } = language;
  const { payment } = view;
  const arrived = arrivedMoney(view);
  const where = [
    fact(texts.network, networkText(payment, network, language)),
    fact(texts.recipient, recipientText(payment.merchant_wallet)),
  ];
  const [purpose, name] = [purposeFact(view, language), referenceFact(view, language)];
  if (arrived !== null) return [...arrivedAmounts(arrived.amount, view, language), ...name, ...where, purpose];
  return [...amounts(view, language), ...where, purpose, ...name];
}

function amounts(view: CheckoutPayment, language: Language): Html[] {
  // Once it is paid, the heading says how much.
  if (view.payment.status === 'PAID') return [];
  const received = receivedMoney(view);
  if (received !== null) return arrivedAmounts(received.amount, view, language);
  return [fact(language.texts.amount, amountText(view, language))];
}

/** What came, and what should have come. */
export function arrivedAmounts(amount: string, view: CheckoutPayment, language: Language): Html[] {
  const { texts } = language;
  return [
    fact(texts.arrivedAmount, transferredText(amount, view, language)),
    fact(texts.askedAmount, amountText(view, language)),
  ];
}

export function fact(name: string, value: Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** What the payment is for. */
export const purposeFact = ({ payment }: CheckoutPayment, { texts }: Language): Html =>
  fact(texts.description, merchantsText('description', payment.description));

/** The short name of the payment, which one of an older release lacks. */
export const referenceFact = ({ reference }: CheckoutPayment, { texts }: Language): Html[] =>
  reference === null ? [] : [fact(texts.reference, html`<span class="reference">${reference}</span>`)];

/** The merchant's words keep to their own lines and their own direction, whatever characters they hold. */
export const merchantsText = (name: string, text: string): Html => html`<bdi class="${name}" dir="auto">${text}</bdi>`;

export const amountText = (view: CheckoutPayment, language: Language): Html =>
  shownAmount(view.payment.amount, formatAmount(language, view.payment.amount), view, language);

/** The same for what a transfer carried or shall carry. */
export const transferredText = (amount: string, view: CheckoutPayment, language: Language): Html =>
  shownAmount(amount, formatTransferred(language, amount), view, language);

/** At an address of its own the last digits tell nothing, and are not marked. */
function shownAmount(amount: string, shown: string, view: CheckoutPayment, language: Language): Html {
  const { currency } = view.payment;
  const dropped = hasOwnAddress(view) ? 0 : lastDigits(amount).length;
  const [start, end] = [shown.slice(0, shown.length - dropped), shown.slice(shown.length - dropped)];
  const grouped = groupedAmount(language, start);
  const figure = dropped === 0 ? grouped : html`${grouped}<b class="last-digits">${end}</b>`;
  return html`<bdi class="amount" dir="ltr"
    ><span class="figure">${figure}</span> <span class="currency">${currency}</span></bdi
  >`;
}

/** Those behind the second decimal, which people are used to leave out; none where leaving them out changes nothing. */
export const lastDigits = (amount: string): string => /\.\d\d(\d*[1-9]\d*)$/.exec(amount)?.[1] ?? '';

/** "Tron (TRC20)". */
export function networkLabel(network: Network): Html {
  const standard = tokenStandard(network);
  return html`<bdi>${standard === null ? networkName(network) : `${networkName(network)} (${standard})`}</bdi>`;
}

/** "USDT on Tron (TRC20)". */
export function networkText(payment: PublicPayment, network: Network | null, language: Language): Html {
  const shown = network === null ? html`<bdi>${payment.network}</bdi>` : networkLabel(network);
  return fill(language.texts.networkName, { currency: payment.currency, network: shown });
}

/** The first six characters of an address; groups of four follow, which fit the lengths of both families. */
const FIRST_GROUP = 6;

/** In groups that are easy to compare, without blanks that would be copied along. The first and the last one stand out. */
export function recipientText(recipient: string): Html {
  const rest = recipient.slice(FIRST_GROUP).match(/.{1,4}/g) ?? [];
  const groups = [recipient.slice(0, FIRST_GROUP), ...rest];
  const isEnd = (position: number) => position === 0 || position === groups.length - 1;
  const spans = groups.map((group, position) =>
    isEnd(position) ? html`<b class="group">${group}</b><wbr />` : html`<span class="group">${group}</span><wbr />`,
  );
  return html`<bdi class="recipient" dir="ltr">${spans}</bdi>`;
}
