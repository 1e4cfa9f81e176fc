import { networkName, tokenStandard, type Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/payment.ts';
import { html, type Html } from './html.ts';
import { fill, formatAmount } from './format.ts';
import type { Language } from './languages.ts';

/** The facts of a payment that cannot be paid, or not any more. */
export function facts(payment: PublicPayment, network: Network | null, language: Language): Html[] {
  const { texts } = language;
  return [
    fact(texts.amount, amountText(payment, language)),
    fact(texts.network, networkText(payment, network, language)),
    fact(texts.recipient, recipientText(payment.merchant_wallet)),
    descriptionFact(payment, language),
  ];
}

export function fact(name: string, value: Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** The merchant's words keep to their own lines and their own direction, whatever characters they hold. */
export function descriptionFact({ description }: PublicPayment, { texts }: Language): Html {
  return fact(texts.description, html`<bdi class="description" dir="auto">${description}</bdi>`);
}

export function amountText({ amount, currency }: PublicPayment, language: Language): Html {
  return html`<bdi class="amount" dir="ltr"
    ><span class="figure">${formatAmount(language, amount)}</span> ${currency}</bdi
  >`;
}

/** "USDT on Tron (TRC20)". */
export function networkText(payment: PublicPayment, network: Network | null, language: Language): Html {
  const name = network === null ? payment.network : networkName(network);
  const standard = network === null ? null : tokenStandard(network);
  const shown = html`<bdi>${standard === null ? name : `${name} (${standard})`}</bdi>`;
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
