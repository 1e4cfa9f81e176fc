import type { CheckoutLookup, CheckoutLookupOutcome, CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { networkName, type Network } from '@quittance/contracts/networks.ts';
import { html, type Html } from './html.ts';
import type { PageChoices } from './document.ts';
import { arrivedAmounts, fact } from './facts.ts';
import { fill } from './format.ts';
import { isPartlyPaid } from './heading.ts';
import { restText } from './own-address.ts';

/** The part of the page to which an answer leads. */
const PLACE = 'lookup';

/** What an answer means to its reader: all is well, wait, or something is wrong. */
const tones: Record<CheckoutLookupOutcome, 'good' | 'wait' | 'bad'> = {
  pays_this_payment: 'good',
  pending: 'wait',
  not_read_yet: 'wait',
  unknown: 'wait',
  no_transaction_id: 'wait',
  asked_too_often: 'wait',
  other_amount: 'bad',
  other_address: 'bad',
  other_network: 'bad',
  other_token: 'bad',
  failed: 'bad',
  too_late: 'bad',
  not_for_this_payment: 'bad',
};

/** "I have paid, but nothing happens": a form that any browser sends, the answer to it, and whom to ask. Open where there is an answer. */
export function help(view: CheckoutPayment, networks: readonly Network[], choices: PageChoices): Html {
  const { texts } = choices.language;
  const lookup = view.lookup ?? null;
  return html`<details class="help" id="${PLACE}" ${lookup === null ? [] : html`open`}>
    <summary>${view.payment.status === 'PAID' ? texts.receipt : texts.help}</summary>
    <div>
      ${lookup === null ? [] : answer(view, lookup, networks, choices)}
      <form action="#${PLACE}">
        <p id="help">${texts.helpText}</p>
        <label for="transaction">${texts.transactionId}</label>
        <div class="line">
          <input
            id="transaction"
            name="transaction_id"
            value="${lookup === null ? '' : lookup.transaction_id}"
            required
            maxlength="300"
            dir="ltr"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
            aria-describedby="help"
          />
          ${kept(choices)}
          <button>${texts.lookUp}</button>
        </div>
      </form>
      ${askShop(view, choices)}
    </div>
  </details>`;
}

function answer(
  view: CheckoutPayment,
  { outcome, amount, network }: CheckoutLookup,
  networks: readonly Network[],
  { language }: PageChoices,
): Html {
  const { texts } = language;
  const known = networks.find(({ id }) => id === network);
  const facts = [
    ...(amount === null ? [] : arrivedAmounts(amount, view, language)),
    ...(network === null
      ? []
      : [fact(texts.network, html`<bdi>${known === undefined ? network : networkName(known)}</bdi>`)]),
  ];
  // At its own address any amount counts, and a part is not the end of it.
  const isPart = isPartlyPaid(view) && (outcome === 'pays_this_payment' || outcome === 'other_amount');
  const text = isPart ? html`${texts.partsHint} ${restText(view, language)}` : texts.lookup[outcome];
  return html`<div class="answer ${isPart ? 'wait' : tones[outcome]}">
    <p>${text}</p>
    ${facts.length > 0 ? html`<dl class="rows">${facts}</dl>` : []}
  </div>`;
}

/** A form replaces the query of its address; these keep what the reader has chosen. */
function kept({ chosenLanguage, qr }: PageChoices): Html[] {
  return [
    ...(chosenLanguage === null ? [] : [html`<input type="hidden" name="lang" value="${chosenLanguage}" />`]),
    ...(qr === null ? [] : [html`<input type="hidden" name="qr" value="${qr}" />`]),
  ];
}

function askShop({ reference }: CheckoutPayment, { language }: PageChoices): Html | [] {
  if (reference === null) return [];
  return html`<p>${fill(language.texts.askShop, { reference: html`<b class="reference">${reference}</b>` })}</p>`;
}
