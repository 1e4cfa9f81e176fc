import { networkName, type Network } from '@quittance/contracts/networks.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { checkoutDocument, messageMain, reloadNotice, walletScript, type PageChoices } from './document.ts';
import { facts } from './facts.ts';
import { fill, formatAmount } from './format.ts';
import { countdown, heading, isPartlyPaid, title } from './heading.ts';
import { help } from './help.ts';
import type { Language } from './languages.ts';
import { hasOwnAddress, isOverpaid, receivedOf } from './own-address.ts';
import { paying } from './paying.ts';
import { nobody, type Shop } from './shop.ts';
import { payee, supportLinks } from './payee.ts';
import { receipt } from './receipt.ts';
import { priceFact } from './price.ts';
import { arrivedMoney, baseState, checkoutState, isOpen, newsOf } from './state.ts';

/** All that the page of a payment is made from. */
export type PageInput = {
  view: CheckoutPayment;
  /** Of the networks file, which need not have the payment's own any more. */
  networks: readonly Network[];
  shop: Shop;
};

/**
 * The page of one payment: the fields of the public status, and what else a customer needs to pay it and to find out what became of it.
 * @throws Error when the payment waits for a transfer on a network that is not configured any more.
 */
export function paymentPage(input: PageInput, choices: PageChoices): string {
  const { view, shop } = input;
  const { payment } = view;
  const state = checkoutState(view);
  if (state === 'waiting' && networkOf(input) === null)
    throw new Error(`the payment waits for a transfer on ${payment.network}, which is not configured`);
  const main = paymentMain(input, choices);
  const renewal = renewalOf(view);
  return checkoutDocument(choices, {
    title: titleOf(view, choices.language),
    renewal,
    shop,
    content: html`${payee(shop, choices.language)} ${main} ${isOpen(view) ? walletScript : []}`,
  });
}

const networkOf = ({ view, networks }: PageInput): Network | null =>
  networks.find(({ id }) => id === view.payment.network) ?? null;

/** A look-up that repeated itself would use up what its reader may ask. A page that is paid is printed by the script. */
function renewalOf(view: CheckoutPayment) {
  if (!isOpen(view)) return view.payment.status === 'PAID' ? 'script' : 'none';
  return view.lookup ? 'script' : 'reload';
}

function titleOf(view: CheckoutPayment, language: Language): Html {
  const { amount, currency } = view.payment;
  // Two amounts in one line would leave it open which of them arrived.
  if (arrivedMoney(view) !== null || isPartlyPaid(view)) return title(view, language);
  return html`${title(view, language)} · ${formatAmount(language, amount)} ${currency}`;
}

function paymentMain(input: PageInput, choices: PageChoices): Html {
  const { view } = input;
  const { payment } = view;
  const { language } = choices;
  const network = networkOf(input);
  const state = checkoutState(view);
  const canPay = network !== null && baseState(view) === 'waiting';
  const isDone = !isOpen(view) && state !== 'arrived';
  const news = newsOf(view);
  return html`<main
    data-status="${payment.status}"
    data-state="${state}"
    data-expires-at="${payment.expires_at}"
    data-server-time="${view.server_time}"
    data-locale="${language.locale}"
    ${news === null ? [] : html`data-news="${news}"`}
  >
    ${heading(view, input.shop, language)} ${notices(view, network, language)}
    ${isDone ? backToShop(view, language) : []}
    ${canPay && state === 'waiting' ? [paying(view, network, choices), listening(language)] : []}
    ${state === 'waiting' ? [] : html`<dl class="rows">${facts(view, network, language)} ${priceFact(view, language)}</dl>`}
    ${receipt(view, language)} ${canPay && state === 'arrived' ? notSent(view, network, choices) : []}
    ${state === 'seen' && !view.lookup ? [] : help(view, input.networks, choices)}
    ${supportLinks(input.shop, view, language)} ${isDone ? [] : backToShop(view, language)}
    ${isOpen(view) ? reloadNotice(choices, renewalOf(view)) : []} ${canPay ? endOfTime(input, choices) : []}
  </main>`;
}

/**
 * Above everything that concerns paying: how the payment stands besides the money that arrived, unless the heading says it; a network
 * that cannot be read; and more money than was asked for.
 */
function notices(view: CheckoutPayment, network: Network | null, language: Language): Html[] {
  const { texts } = language;
  const state = baseState(view);
  const isBehindMoney = arrivedMoney(view) !== null && state !== 'waiting' && !hasOwnAddress(view);
  const isUnreadable = (view.warnings ?? []).includes('network_unreadable') && state !== 'frozen' && state !== 'paid';
  const name = html`<bdi>${network === null ? view.payment.network : networkName(network)}</bdi>`;
  return [
    ...(isBehindMoney ? [html`<p class="notice"><strong>${texts[state].title}</strong> ${texts[state].text}</p>`] : []),
    ...(isUnreadable ? [html`<p class="notice">${fill(texts.unreadable, { network: name })}</p>`] : []),
    ...(state === 'paid' && isOverpaid(view)
      ? [html`<p class="notice">${receivedOf(view, texts.overpaid, language)}</p>`]
      : []),
  ];
}

/** Below what is to be done, so that this stands as high up as it can. */
const listening = ({ texts }: Language): Html => html`<p class="lead">${texts.waiting.text}</p>`;

/** The money that arrived may be a stranger's: a reader who has not paid yet can still do so. */
function notSent(view: CheckoutPayment, network: Network, choices: PageChoices): Html {
  return html`<details>
    <summary>${choices.language.texts.notSent}</summary>
    <div>${countdown(view, choices.language)} ${paying(view, network, choices)}</div>
  </details>`;
}

/** The one link that leaves the page. It tells the shop nothing, not even where its visitor comes from. */
function backToShop(view: CheckoutPayment, { texts }: Language): Html | [] {
  const { return_url: url } = view;
  if (url === null || !/^https?:\/\//i.test(url)) return [];
  const state = checkoutState(view);
  const text = state === 'expired' || state === 'cancelled' ? texts.payAgain : texts.back;
  return html`<a class="back" href="${url}" rel="noopener noreferrer" referrerpolicy="no-referrer">${text}</a>`;
}

/** Shown by the script when the time ends while the server cannot be reached. Browsers do not render it before. */
function endOfTime(input: PageInput, choices: PageChoices): Html {
  const view = { ...input.view, server_time: input.view.payment.expires_at, lookup: null };
  return html`<template data-title="${titleOf(view, choices.language)}"
    >${paymentMain({ ...input, view }, choices)}</template
  >`;
}

export function notFoundPage(choices: PageChoices): string {
  const message = choices.language.texts.notFound;
  return checkoutDocument(choices, {
    title: message.title,
    renewal: 'none',
    shop: nobody,
    content: messageMain('not-found', message, []),
  });
}

/** Live: the cause may be gone soon. */
export function unavailablePage(choices: PageChoices): string {
  const message = choices.language.texts.unavailable;
  const main = messageMain('unavailable', message, reloadNotice(choices, 'reload'));
  return checkoutDocument(choices, {
    title: message.title,
    renewal: 'reload',
    shop: nobody,
    content: html`${main} ${walletScript}`,
  });
}
