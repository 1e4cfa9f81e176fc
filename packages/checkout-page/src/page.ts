import type { Network } from '@quittance/contracts/networks.ts';
import type { CheckoutPayment } from '@quittance/contracts/payment.ts';
import { html, type Html } from './html.ts';
import { checkoutDocument, messageMain, reloadNotice, type PageChoices } from './document.ts';
import { facts } from './facts.ts';
import { fill, formatAmount, formatCountdown, formatNumber, formatUtcTime } from './format.ts';
import type { Language } from './languages.ts';
import { payingFacts, qrChoice } from './paying.ts';
import { checkoutState, icons, isOpen, type CheckoutState } from './state.ts';

/** All that the page of a payment is made from. */
export type PageInput = {
  view: CheckoutPayment;
  /** Of the networks file, which need not have the payment's own any more. */
  networks: readonly Network[];
  /** What the merchant calls the shop; null names nobody. */
  shopName: string | null;
};

/**
 * The page of one payment: the fields of the public status, and what else a customer needs to pay it and to find out what became of it.
 * @throws Error when the payment waits for a transfer on a network that is not configured any more.
 */
export function paymentPage({ view, networks, shopName }: PageInput, choices: PageChoices): string {
  const { payment } = view;
  const network = networks.find(({ id }) => id === payment.network) ?? null;
  const { language } = choices;
  const state = checkoutState(view);
  if (state === 'waiting' && network === null)
    throw new Error(`the payment waits for a transfer on ${payment.network}, which is not configured`);
  const main = paymentMain(view, state, network, choices);
  return checkoutDocument(
    choices,
    titleOf(view, state, language),
    isOpen(state),
    html`${shopHeader(shopName)} ${main}`,
  );
}

/** The merchant's own words: they keep to their line and their direction. */
const shopHeader = (shopName: string | null): Html | [] =>
  shopName === null ? [] : html`<header class="shop"><bdi dir="auto">${shopName}</bdi></header>`;

const titleOf = ({ payment }: CheckoutPayment, state: CheckoutState, language: Language): string =>
  `${language.texts[state].title} · ${formatAmount(language, payment.amount)} ${payment.currency}`;

function paymentMain(view: CheckoutPayment, state: CheckoutState, network: Network | null, choices: PageChoices): Html {
  const { payment } = view;
  const { language } = choices;
  const isWaiting = state === 'waiting';
  const { title, text } = language.texts[state];
  return html`<main
    data-status="${payment.status}"
    data-state="${state}"
    data-expires-at="${payment.expires_at}"
    data-server-time="${view.server_time}"
    data-locale="${language.locale}"
  >
    <header>
      ${icons[state]}
      <h1 tabindex="-1">${title}</h1>
      <p class="lead">${text}</p>
      ${isWaiting ? countdown(view, language) : []} ${state === 'seen' ? progress(view.confirmations, language) : []}
    </header>
    <dl>
      ${network !== null && isWaiting ? payingFacts(payment, network, language) : facts(payment, network, language)}
    </dl>
    ${network !== null && isWaiting ? qrChoice(payment, network, choices) : []}
    ${isOpen(state) ? reloadNotice(choices) : []} ${isWaiting ? endOfTime(view, network, choices) : []}
  </main>`;
}

/** Shown by the script when the time ends while the server cannot be reached. Browsers do not render it before. */
function endOfTime(view: CheckoutPayment, network: Network | null, choices: PageChoices): Html {
  return html`<template data-title="${titleOf(view, 'over', choices.language)}"
    >${paymentMain(view, 'over', network, choices)}</template
  >`;
}

export function notFoundPage(choices: PageChoices): string {
  const message = choices.language.texts.notFound;
  return checkoutDocument(choices, message.title, false, messageMain('not-found', message, []));
}

/** Live: the cause may be gone soon. */
export function unavailablePage(choices: PageChoices): string {
  const message = choices.language.texts.unavailable;
  return checkoutDocument(choices, message.title, true, messageMain('unavailable', message, reloadNotice(choices)));
}

/** Without script it shows the time that was left when the page was rendered. */
function countdown({ payment, server_time: now }: CheckoutPayment, language: Language): Html {
  const { texts } = language;
  const seconds = Math.ceil((Date.parse(payment.expires_at) - Date.parse(now)) / 1000);
  return html`<p class="clock">
    ${texts.timeLeft}
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
  const { seen, required } = confirmations;
  const counted = fill(language.texts.confirmations, {
    seen: formatNumber(language, seen),
    required: formatNumber(language, required),
  });
  return html`<div class="progress" data-live>
    <progress value="${String(seen)}" max="${String(required)}" aria-label="${counted}"></progress>
    <p>${counted}</p>
    ${seen >= required ? html`<p>${language.texts.awaitingFinality}</p>` : []}
  </div>`;
}
