import type { Network } from '@quittance/contracts/networks.ts';
import type { CheckoutPayment, PublicPayment } from '@quittance/contracts/api/payment.ts';
import { html, type Html } from './html.ts';
import { pageLink, type PageChoices } from './document.ts';
import { fact, lastDigits, networkText, purposeFact, recipientText, referenceFact, transferredText } from './facts.ts';
import { fill, formatAmount, formatTransferred } from './format.ts';
import type { Language } from './languages.ts';
import { amountToSend, hasOwnAddress } from './own-address.ts';
import { paymentLink } from './payment-link.ts';
import { priceFact } from './price.ts';
import { qrCode } from './qr.ts';

/** Everything that is needed to pay: with copy buttons, warnings, a link for wallet apps and a code for scanners. */
export function paying(view: CheckoutPayment, network: Network, choices: PageChoices): Html {
  const { language } = choices;
  const asked = { ...view.payment, amount: amountToSend(view) };
  return html`<div class="pay">
    <dl class="what">${amountFact(view, language)} ${networkFact(asked, network, language)}</dl>
    ${walletLink(asked, network, language)}
    <dl class="where">${recipientFact(view, language)}</dl>
    ${qrChoice(asked, network, choices)}
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

function networkFact(payment: PublicPayment, network: Network, language: Language): Html {
  const { texts } = language;
  return fact(
    texts.network,
    html`<strong>${networkText(payment, network, language)}</strong>
      <p class="hint warning">${texts.networkWarning}</p>`,
  );
}

function recipientFact(view: CheckoutPayment, language: Language): Html {
  const { texts } = language;
  const { merchant_wallet: recipient } = view.payment;
  return fact(
    texts.recipient,
    html`<div class="line">${recipientText(recipient)} ${copyButton(recipient, texts.copyRecipient, texts.copy)}</div>
      <p class="hint">${texts.recipientHint}</p>
      ${hasOwnAddress(view) ? [] : feeHint(view.payment, language)}`,
  );
}

function feeHint({ amount, currency }: PublicPayment, language: Language): Html {
  const shown = html`<bdi dir="ltr">${formatAmount(language, amount)} ${currency}</bdi>`;
  return html`<p class="hint">${fill(language.texts.feeHint, { amount: shown })}</p>`;
}

/** One tap from the browser to the wallet on the same device, and what the wallet can know from it. */
function walletLink(payment: PublicPayment, network: Network, { texts }: Language): Html {
  const { currency } = payment;
  const hint = network.family === 'tron' ? fill(texts.fillsRecipient, { currency }) : html`${texts.fillsAll}`;
  return html`<div class="wallet">
    <a class="wallet-link" href="${paymentLink(payment, network)}">${texts.openWallet}</a>
    <p class="hint">${hint}</p>
  </div>`;
}

/** A QR code of the bare address, which every wallet understands, or of a link with token, network and amount. */
function qrChoice(payment: PublicPayment, network: Network, choices: PageChoices): Html {
  const { texts } = choices.language;
  const isLink = choices.qr === 'link';
  const code = isLink
    ? qrCode(paymentLink(payment, network), texts.qrOfLink)
    : qrCode(payment.merchant_wallet, texts.qrOfRecipient);
  const choice = (qr: PageChoices['qr'], text: string) =>
    html`<a href="${pageLink(choices, { qr })}" ${qr === choices.qr ? html`aria-current="true"` : []}>${text}</a>`;
  return html`<section class="code" aria-label="${texts.qrChoice}">
    ${code}
    <nav aria-label="${texts.qrChoice}">${choice('recipient', texts.qrRecipient)} ${choice('link', texts.qrLink)}</nav>
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
