import type { Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/payment.ts';
import { html, type Html } from './html.ts';
import { pageLink, type PageChoices } from './document.ts';
import { amountText, descriptionFact, fact, networkText, recipientText } from './facts.ts';
import { fill, formatAmount } from './format.ts';
import type { Language } from './languages.ts';
import { paymentLink } from './payment-link.ts';
import { qrCode } from './qr.ts';

/** The facts of a payment that waits for a transfer: with copy buttons and with the warnings. */
export function payingFacts(payment: PublicPayment, network: Network, language: Language): Html[] {
  const { texts } = language;
  const { amount, currency, merchant_wallet: recipient } = payment;
  const shown = amountText(payment, language);
  const amounts = html`<div class="line">${shown} ${copyButton(amount, texts.copyAmount, texts.copy)}</div>
    ${exactAmount(amount, language)}
    <p class="hint">${texts.amountHint}</p>
    <p class="hint">${fill(texts.feeHint, { amount: shownIn(language, amount, currency) })}</p>`;
  const networks = html`<strong>${networkText(payment, network, language)}</strong>
    <p class="hint warning">${texts.networkWarning}</p>`;
  const recipients = html`<div class="line">
      ${recipientText(recipient)} ${copyButton(recipient, texts.copyRecipient, texts.copy)}
    </div>
    <p class="hint">${texts.recipientHint}</p>`;
  return [
    fact(texts.amount, amounts),
    fact(texts.network, networks),
    fact(texts.recipient, recipients),
    descriptionFact(payment, language),
  ];
}

/** A QR code of the bare address, which every wallet understands, or of a link with token, network and amount. */
export function qrChoice(payment: PublicPayment, network: Network, choices: PageChoices): Html {
  const { texts } = choices.language;
  const link = paymentLink(payment, network);
  const isLink = choices.qr === 'link';
  const code = isLink ? qrCode(link, texts.qrOfLink) : qrCode(payment.merchant_wallet, texts.qrOfRecipient);
  const choice = (qr: PageChoices['qr'], text: string) =>
    html`<a href="${pageLink(choices, { qr })}" ${qr === choices.qr ? html`aria-current="true"` : []}>${text}</a>`;
  return html`<section class="code" aria-label="${texts.qrChoice}">
    ${code}
    <nav aria-label="${texts.qrChoice}">${choice('recipient', texts.qrRecipient)} ${choice('link', texts.qrLink)}</nav>
    ${isLink ? html`<p class="hint">${texts.qrLinkHint}</p>` : []}
    ${isLink ? html`<a class="wallet-link" href="${link}">${texts.openWallet}</a>` : []}
  </section>`;
}

/** The amount as wallets accept it, where the language writes it with other digits or a comma. */
function exactAmount(amount: string, language: Language): Html | [] {
  if (formatAmount(language, amount) === amount) return [];
  return html`<p class="exact">
    ${fill(language.texts.exactAmount, { amount: html`<bdi dir="ltr">${amount}</bdi>` })}
  </p>`;
}

function shownIn(language: Language, amount: string, currency: string): Html {
  return html`<bdi dir="ltr">${formatAmount(language, amount)} ${currency}</bdi>`;
}

/** Hidden without script; the text can be selected then. @param label contains `text`. */
function copyButton(copied: string, label: string, text: string): Html {
  return html`<button type="button" class="copy" data-copy="${copied}" aria-label="${label}" hidden>${text}</button>`;
}
