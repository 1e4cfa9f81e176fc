import type { PaymentDetails, UnmatchedTransfer } from '@quittance/sdk';
import { articleOf } from '../catalogue.ts';
import { html, type Html } from '../html.ts';
import type { WholeOrder } from '../orders.ts';
import { page, time } from './layout.ts';

/** @param next the number before which the next page begins; null on the last one. */
export const adminListPage = (orders: readonly WholeOrder[], next: string | null): string =>
  page(
    'Orders',
    html`<h1>Orders</h1>
      ${orders.length === 0 ? html`<p>There is none yet.</p>` : orderTable(orders)}
      ${next === null ? '' : html`<p><a class="button" href="/admin?before=${next}">Older orders</a></p>`}`,
    'admin',
  );

const orderTable = (orders: readonly WholeOrder[]): Html =>
  html`<table>
    <thead>
      <tr>
        <th scope="col">Order</th>
        <th scope="col">Article</th>
        <th scope="col">Price</th>
        <th scope="col">State</th>
      </tr>
    </thead>
    <tbody>
      ${orders.map(
        (order) =>
          html`<tr>
            <th scope="row"><a href="/admin/orders/${order.order_id}">${order.number}</a></th>
            <td>${nameOf(order)}</td>
            <td class="number">${order.price}</td>
            <td>${stateOf(order)}${order.notes.length > 0 ? html` <strong class="flag">Look at it</strong>` : ''}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

/** @param details of its payments, the newest first; null while Quittance cannot be asked. */
export const adminOrderPage = (
  order: WholeOrder,
  details: readonly PaymentDetails[] | null,
  problem: string | null,
): string =>
  page(
    `Order ${order.number}`,
    html`<h1>Order ${order.number}</h1>
      ${problem === null ? '' : html`<p class="problem" role="alert">${problem}</p>`}
      ${order.notes.map((note) => html`<p class="problem">${note}</p>`)}
      <dl>
        <dt>State</dt>
        <dd>${stateOf(order)}</dd>
        <dt>Article</dt>
        <dd>${nameOf(order)}</dd>
        <dt>Price</dt>
        <dd>${order.price} USDT</dd>
        <dt>Ordered</dt>
        <dd>${time(order.created_at)}</dd>
        ${
          order.paid_at === null
            ? ''
            : html`<dt>Paid</dt>
                <dd>${time(order.paid_at)}</dd>`
        }
      </dl>
      ${
        details === null
          ? html`<p class="problem">Quittance cannot be asked now. Load this page again in a moment.</p>`
          : details.map((payment) => paymentSection(order, payment))
      }`,
    'admin',
  );

const paymentSection = (order: WholeOrder, payment: PaymentDetails): Html =>
  html`<section>
    <h2>Payment ${payment.reference}</h2>
    <dl>
      <dt>Status</dt>
      <dd>${payment.status}</dd>
      <dt>To send</dt>
      <dd>${payment.amount} USDT</dd>
      <dt>Id</dt>
      <dd><code>${payment.payment_id}</code></dd>
      ${
        payment.transaction === null
          ? ''
          : html`<dt>Transaction</dt>
              <dd><code>${payment.transaction.transaction_id}</code></dd>
              <dt>Came</dt>
              <dd>${payment.transaction.amount} USDT${payment.transaction.accepted ? ', accepted by hand' : ''}</dd>`
      }
    </dl>
    ${payment.unmatched_transfers.map((transfer) => transferSection(order, payment, transfer))}
  </section>`;

const reasons: Record<UnmatchedTransfer['reason'], string> = {
  underpaid: 'too little',
  overpaid: 'too much',
  late: 'too late',
  after_cancel: 'after it was cancelled',
  duplicate: 'a second time',
};

const transferSection = (order: WholeOrder, payment: PaymentDetails, transfer: UnmatchedTransfer): Html =>
  html`<div class="transfer">
    <h3>${transfer.amount} USDT came: ${reasons[transfer.reason]}</h3>
    <p>${time(new Date(transfer.block_timestamp))}, transaction <code>${transfer.transaction_id}</code></p>
    ${
      order.paid_at === null
        ? html`<form method="post" action="/admin/orders/${order.order_id}/accept">
            <input type="hidden" name="payment_id" value="${payment.payment_id}" />
            <input type="hidden" name="transaction_id" value="${transfer.transaction_id}" />
            <input type="hidden" name="transaction_event_index" value="${String(transfer.transaction_event_index)}" />
            <button>Accept ${transfer.amount} USDT</button>
          </form>`
        : html`<p>It does not pay this order, which is paid.</p>`
    }
  </div>`;

const nameOf = ({ article }: WholeOrder): string => articleOf(article)?.name ?? article;

function stateOf({ paid_at, payments: [newest] }: WholeOrder): string {
  if (paid_at !== null) return 'Paid';
  return newest === undefined ? 'No payment yet' : `Not paid, payment ${newest.status.toLowerCase()}`;
}
