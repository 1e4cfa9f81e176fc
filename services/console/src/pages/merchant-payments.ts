import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { FoundTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { paymentStatuses, type Payment } from '@quittance/contracts/api/payment.ts';
import { ownPaymentPath, MERCHANT_HOME } from './merchant-sections.ts';
import { mayBeFor } from './candidates.ts';
import { badge, link, table, time, type Cell } from './parts.ts';
import { words } from './story.ts';

export const toOwnPayment = (id: string): Html => link(ownPaymentPath(id), id);
export const ownPaymentLink = (id: string | null): Cell => (id === null ? null : toOwnPayment(id));

/** @param status '' for all. */
export const ownSearchForm = (text: string, status: string): Html =>
  html`<form method="get" action="${MERCHANT_HOME}" role="search">
    <label for="q">Payment id, order id, reference, transaction id or wallet; empty for all</label>
    <input id="q" name="q" type="search" value="${text}" maxlength="500" autocomplete="off" />
    <label for="status">Status</label>
    <select id="status" name="status">
      ${choices(['', ...paymentStatuses], status, { '': 'any' })}
    </select>
    <button>Find</button>
  </form>`;

/** Options of a select. @param names of those that are not called by their value. */
export const choices = (values: readonly string[], chosen: string, names: Record<string, string> = {}): Html[] =>
  values.map((value) => {
    const selected = value === chosen ? html` selected` : [];
    return html`<option value="${value}" ${selected}>${names[value] ?? value}</option>`;
  });

/** @param older where the next page is; null at the end. */
export const ownPaymentsTable = (title: string, payments: readonly Payment[], older: string | null): Html =>
  html`${table(title, payments, {
    Payment: ({ payment_id: id }) => ownPaymentLink(id),
    Status: ({ status }) => badge(status),
    Amount: ({ amount, currency }) => `${amount} ${currency}`,
    Network: ({ network }) => network,
    Order: ({ order_id: order }) => order,
    Description: ({ description }) => description,
    Reference: ({ reference }) => reference,
    Created: ({ created_at: at }) => time(at),
    Paid: ({ paid_at: at }) => time(at),
  })}
  ${older === null ? [] : html`<p><a href="${older}">Older ones</a></p>`}`;

/** The sentence first: it says what became of the money. */
export const whereTable = ({ explanation, transfers }: FoundTransfers): Html =>
  html`<p>${explanation}</p>
    ${table('Transfers of this transaction to your wallets', transfers, {
      Amount: ({ amount }) => `${amount} USDT`,
      Wallet: ({ merchant_wallet: wallet, network }) => `${wallet} on ${network}`,
      'Block time': ({ block_timestamp: at }) => time(at),
      State: ({ state }) => badge(state),
      Payment: (transfer) => ownPaymentLink(transfer.payment_id) ?? mayBeFor(transfer, toOwnPayment),
      Reason: ({ reason }) => reason && words(reason),
    })}`;
