import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { badge, merchantLink, paymentLink, table, time } from './parts.ts';

export const searchForm = (text: string): Html =>
  html`<form method="get" action="/payments" role="search">
    <label for="q">Payment id, checkout link, order id, reference, transaction id or wallet</label>
    <input id="q" name="q" type="search" value="${text}" maxlength="500" autocomplete="off" required />
    <button>Find</button>
  </form>`;

export const foundTable = (payments: readonly FoundPayment[]): Html =>
  table('Payments found', payments, {
    Payment: ({ payment_id: id }) => paymentLink(id),
    Status: ({ status }) => badge(status),
    Amount: ({ amount, currency }) => `${amount} ${currency}`,
    Network: ({ network }) => network,
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Order: ({ order_id: order }) => order,
    Created: ({ created_at: at }) => time(at),
    'Found by': ({ found_by: by }) => by.replaceAll('_', ' '),
  });

/** The sentence first: it says what became of the money. */
export const locatedTable = ({ explanation, transfers }: LocatedTransfers): Html =>
  html`<p>${explanation}</p>
    ${table('Transfers of this transaction', transfers, {
      Amount: ({ amount }) => `${amount} USDT`,
      Network: ({ network }) => network,
      Wallet: ({ merchant_wallet: wallet }) => wallet,
      Merchant: ({ merchant_id: id }) => merchantLink(id),
      'Block time': ({ block_timestamp: at }) => time(at),
      State: ({ state }) => badge(state),
      Payment: ({ payment_id: id }) => paymentLink(id),
      'Pays nothing': ({ reason }) => reason?.replaceAll('_', ' ') ?? null,
    })}`;
