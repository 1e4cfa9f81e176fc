import type { Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { pageLink, type PageChoices } from './document.ts';
import {
  fact,
  lastDigits,
  networkLabel,
  networkText,
  purposeFact,
  recipientText,
  referenceFact,
  transferredText,
} from './facts.ts';
import { fill, formatNumber, formatTransferred } from './format.ts';
import type { Language } from './languages.ts';
import { amountToSend, hasOwnAddress, setApart } from './own-address.ts';
import { paymentLink } from './payment-link.ts';
import { priceFact } from './price.ts';
import { qrCode } from './qr.ts';
import { walletPanel } from './wallet.ts';

/** Everything that is needed to pay: with copy buttons, warnings, a link for wallet apps and a code for scanners. */
export function paying(view: CheckoutPayment, network: Network, choices: PageChoices): Html {
  const { language } = choices;
  const asked = { ...view.payment, amount: amountToSend(view) };
  return html`<div class="pay">
    <dl class="what">${amountFact(view, language)} ${networkFact(asked, network, language)}</dl>
    ${walletPanel(asked, network, language)}
    <dl class="where">${recipientFact(view, language)}</dl>
    ${qrChoice(asked, network, choices)} ${exchange(asked, network, language)}
    <dl class="rows">${priceFact(view, language)} ${purposeFact(view, language)} ${referenceFact(view, language)}</dl>
  </div>`;
}

function amountFact(view: CheckoutPayment, language: Language): Html {
  const { texts } = language;
  const amount = amountToSend(view);
  const isOwn = hasOwnAddress(view);
  const shown = transferredText(amount, view, language);
  return fact(
    isOwn ? texts.send : texts.sendExactly,
    html`<div class="line">${shown} ${copyButton(amount, texts.copyAmount, texts.copy)}</div>
      ${exactAmount(amount, language)}
      ${isOwn ? html`<p class="hint">${texts.partsHint}</p>` : whyExactly(amount, language)}`,
  );
}

/** Where digits stand that people leave out, they are named. */
function whyExactly(amount: string, { texts }: Language): Html {
  const digits = lastDigits(amount);
  if (digits === '') return html`<p class="hint">${texts.amountHint}</p>`;
  return html`<p class="hint warning">${fill(texts.lastDigits, { digits: html`<bdi>${digits}</bdi>` })}</p>`;
}

const networkFact = (payment: PublicPayment, network: Network, language: Language): Html =>
  fact(language.texts.network, html`<strong>${networkText(payment, network, language)}</strong>`);

function recipientFact(view: CheckoutPayment, language: Language): Html {
  const { texts } = language;
  const { merchant_wallet: recipient } = view.payment;
  return fact(
    texts.recipient,
    html`<div class="line">${recipientText(recipient)} ${copyButton(recipient, texts.copyRecipient, texts.copy)}</div>
      <p class="hint warning">${texts.networkWarning}</p>
      <p class="hint after-copy">${texts.recipientHint}</p>`,
  );
}

/** What an exchange's form must be told, by the example of a fee, because fees differ. */
function exchange({ amount, currency }: PublicPayment, network: Network, language: Language): Html {
  const { texts } = language;
  const shown = (text: string) => setApart(language)(`${text} ${currency}`);
  const fee = { fee: shown(formatNumber(language, 1)), entered: shown(plusOne(language, amount)) };
  return html`<details class="exchange">
    <summary>${texts.exchange}</summary>
    <p>${fill(texts.exchangeNetwork, { network: networkLabel(network) })}</p>
    <p>${fill(texts.exchangeFee, { ...fee, amount: shown(formatTransferred(language, amount)) })}</p>
  </details>`;
}

const plusOne = (language: Language, amount: string): string => {
  const [whole = '', decimals] = amount.split('.');
  const more = (BigInt(whole) + 1n).toString();
  return formatTransferred(language, decimals === undefined ? more : `${more}.${decimals}`);
};

/**
 * A QR code. On EVM networks it is at first a link with token, network and amount, so that nothing has to be typed, and the reader can have
 * the bare address instead, which every wallet and every exchange understands. On Tron there is only the address.
 */
function qrChoice(payment: PublicPayment, network: Network, choices: PageChoices): Html {
  const { texts } = choices.language;
  if (network.family === 'tron') {
    return html`<section class="code" aria-label="${texts.qrOfRecipient}">
      ${qrCode(payment.merchant_wallet, texts.qrOfRecipient)}
    </section>`;
  }
  const chosen = choices.qr ?? 'link';
  const isLink = chosen === 'link';
  const code = isLink
    ? qrCode(paymentLink(payment, network), texts.qrOfLink)
    : qrCode(payment.merchant_wallet, texts.qrOfRecipient);
  const choice = (qr: 'link' | 'recipient', text: string) =>
    html`<a href="${pageLink(choices, { qr })}" ${qr === chosen ? html`aria-current="true"` : []}>${text}</a>`;
  return html`<section class="code" aria-label="${texts.qrChoice}">
    ${code}
    <nav aria-label="${texts.qrChoice}">${choice('link', texts.qrLink)} ${choice('recipient', texts.qrRecipient)}</nav>
    ${isLink ? html`<p class="hint">${texts.qrLinkHint}</p>` : []}
  </section>`;
}

/** The amount as wallets accept it, where the language writes it with other digits or a comma. */
function exactAmount(amount: string, language: Language): Html | [] {
  if (formatTransferred(language, amount) === amount) return [];
  return html`<p class="exact">
    ${fill(language.texts.exactAmount, { amount: html`<bdi dir="ltr">${amount}</bdi>` })}
  </p>`;
}

/** Hidden without script; the text can be selected then. @param label contains `text`. */
function copyButton(copied: string, label: string, text: string): Html {
  return html`<button type="button" class="copy" data-copy="${copied}" aria-label="${label}" hidden>${text}</button>`;
}
