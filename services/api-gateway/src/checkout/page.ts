import type { PaymentStatus, PublicPayment } from '@quittance/contracts/payment.ts';
import { assets } from './assets.ts';
import { html, type Html } from '../html.ts';

/** How often a page without script reloads itself while the payment is unfinished. */
const RELOAD_SECONDS = 10;

const statusTexts: Record<PaymentStatus, string> = {
  PENDING: 'Waiting for your payment',
  CHECKING: 'Transfer seen, waiting for confirmations',
  PAID: 'Paid. Thank you!',
  EXPIRED: 'This payment has expired. Do not send anything any more.',
  CANCELLED: 'This payment was cancelled. Do not send anything.',
};

/**
 * The page of one payment. It shows what the public status shows and nothing more.
 * @param explorerUrlTemplate link to a transaction of this network with `{transaction_id}` in it, or null.
 */
export function paymentPage(payment: PublicPayment, explorerUrlTemplate: string | null): string {
  const isUnfinished = payment.status === 'PENDING' || payment.status === 'CHECKING';
  const body = html`<main data-status="${payment.status}">
    <h1>${payment.amount} ${payment.currency}</h1>
    <p class="status" role="status">${statusTexts[payment.status]}</p>
    <dl>
      <dt>Network</dt>
      <dd>${payment.network} (a transfer on another network is lost)</dd>
      <dt>Recipient</dt>
      <dd class="recipient">${payment.merchant_wallet}</dd>
      <dt>Description</dt>
      <dd class="description">${payment.description}</dd>
      <dt>Expires</dt>
      <dd><time datetime="${payment.expires_at}">${toUtcText(payment.expires_at)}</time></dd>
      ${payment.transaction_id === undefined ? [] : transactionItem(payment.transaction_id, explorerUrlTemplate)}
    </dl>
  </main>`;
  const head = html`<script src="/assets/${assets.script.name}" defer></script>
    <noscript><meta http-equiv="refresh" content="${String(RELOAD_SECONDS)}" /></noscript>`;
  return document(`${payment.amount} ${payment.currency}`, isUnfinished ? head : [], body);
}

export const notFoundPage = (): string =>
  messagePage('No such payment', 'This link leads to no payment. Please check it with the shop that gave it to you.');

export const unavailablePage = (): string =>
  messagePage('Just a moment', 'The payment cannot be shown right now. Nothing is lost; please try again shortly.');

function messagePage(title: string, text: string): string {
  return document(
    title,
    [],
    html`<main>
      <h1>${title}</h1>
      <p>${text}</p>
    </main>`,
  );
}

function document(title: string, head: Html | readonly Html[], body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        <link rel="stylesheet" href="/assets/${assets.stylesheet.name}" />
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `.html;
}

function transactionItem(transactionId: string, explorerUrlTemplate: string | null): Html {
  const url = explorerUrlTemplate?.replaceAll('{transaction_id}', transactionId);
  const text =
    url === undefined ? html`${transactionId}` : html`<a href="${url}" rel="noreferrer">${transactionId}</a>`;
  return html`<dt>Transaction</dt>
    <dd>${text}</dd>`;
}

/** "2026-01-31 09:00 UTC" from an RFC 3339 moment in UTC. */
const toUtcText = (moment: string): string => `${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`;
