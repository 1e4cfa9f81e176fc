import type { PaymentDetails, UnmatchedTransfer } from '@quittance/sdk';
import { isUncertain, paidAnother, type Candidate } from '../acceptance.ts';
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
            <td class="number">${order.price} ${order.currency}</td>
            <td>${stateOf(order)}${order.notes.length > 0 ? html` <strong class="flag">Look at it</strong>` : ''}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

export type ShownPayment = { payment: PaymentDetails; transfers: readonly Candidate[] };

/** @param details of its payments, the newest first; null while Quittance does not answer. */
export const adminOrderPage = (
  order: WholeOrder,
  details: readonly ShownPayment[] | null,
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
        <dd>${order.price} ${order.currency}</dd>
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
          : details.map((shown) => paymentSection(order, shown))
      }`,
    'admin',
  );

const paymentSection = (order: WholeOrder, { payment, transfers }: ShownPayment): Html =>
  html`<section>
    <h2>Payment ${payment.reference}</h2>
    <dl>
      <dt>Status</dt>
      <dd>${payment.status}</dd>
      <dt>To send</dt>
      <dd>${payment.amount} USDT</dd>
      <dt>Address</dt>
      <dd><code>${payment.merchant_wallet}</code></dd>
      <dt>Id</dt>
      <dd><code>${payment.payment_id}</code></dd>
      ${
        payment.transaction === null
          ? ''
          : html`<dt>Transaction</dt>
              <dd><code>${payment.transaction.transaction_id}</code></dd>`
      }
      <dt>Received</dt>
      <dd>${receivedOf(payment)} USDT${payment.transaction?.accepted === true ? ', accepted by a person' : ''}</dd>
    </dl>
    ${payment.warnings.map((warning) => html`<p class="problem">${warnings[warning]}</p>`)}
    ${transfers.map((transfer) => transferSection(order, payment, transfer))}
  </section>`;

/** Everything that is confirmed at the payment's own address; on a wallet that payments share, the transfer that pays. */
const receivedOf = ({ received_amount: received, transaction }: PaymentDetails): string =>
  received ?? transaction?.amount ?? '0';

const reasons: Record<UnmatchedTransfer['reason'], string> = {
  underpaid: 'too little',
  overpaid: 'too much',
  late: 'too late',
  after_cancel: 'after it was cancelled',
  duplicate: 'a second time',
  ambiguous: 'it may be for another order',
  paid_another: 'it paid another order',
};

const warnings: Record<PaymentDetails['warnings'][number], string> = {
  wallet_blacklisted: "The token's issuer has frozen the wallet. Offer another one.",
  network_unreadable: 'The network cannot be read at the moment. Transfers are noticed later.',
};

const transferSection = (order: WholeOrder, payment: PaymentDetails, transfer: Candidate): Html =>
  html`<div class="transfer">
    <h3>${transfer.amount} USDT arrived: ${reasons[transfer.reason]}</h3>
    <p>${time(new Date(transfer.block_timestamp))}, transaction <code>${transfer.transaction_id}</code></p>
    ${decision(order, payment, transfer)}
  </div>`;

/** What a person can do about a transfer. Taking another customer's money always needs more than one click. */
function decision(order: WholeOrder, payment: PaymentDetails, transfer: Candidate): Html {
  if (paidAnother(transfer))
    return html`<p>
      It arrived soon after this payment ended, and paid a later order of the same amount. Its sender may be this
      customer: ask before you do anything.
    </p>`;
  if (order.paid_at !== null) return html`<p>It does not pay this order, which is paid.</p>`;
  if (transfer.elsewhere)
    return html`<p>
      Another merchant has a payment that it may be for. Only the operator of Quittance can accept it.
    </p>`;
  // Whichever transfer to the payment's own address is named, all are accepted together.
  const all = payment.dedicated && !isUncertain(transfer) ? receivedOf(payment) : transfer.amount;
  return html`${isUncertain(transfer) ? html`<p class="problem">${possibilities(transfer)}</p>` : ''}
    <form method="post" action="/admin/orders/${order.order_id}/accept">
      <input type="hidden" name="payment_id" value="${payment.payment_id}" />
      <input type="hidden" name="transaction_id" value="${transfer.transaction_id}" />
      <input type="hidden" name="transaction_event_index" value="${String(transfer.transaction_event_index)}" />
      ${isUncertain(transfer) ? confirmation(order, transfer) : ''}
      <button>Accept ${all} USDT</button>
    </form>`;
}

function possibilities({ candidate_count: count, others }: Candidate): Html {
  const links = (others ?? []).map(
    ({ order_id, number }, place) =>
      html`${place === 0 ? '; also ' : ', '}<a href="/admin/orders/${order_id}">order ${number}</a>`,
  );
  return html`It may be for ${String(count)} payments, this one included${links}.`;
}

/** Sends the number, so that nothing is accepted if another order has arrived meanwhile. */
const confirmation = ({ number }: WholeOrder, { candidate_count: count }: Candidate): Html =>
  html`<label>
    <input type="checkbox" name="confirmed" value="${String(count)}" required />
    I have asked: this money is for order ${number}, and for no other.
  </label>`;

const nameOf = ({ article }: WholeOrder): string => articleOf(article)?.name ?? article;

function stateOf({ paid_at, payments: [newest] }: WholeOrder): string {
  if (paid_at !== null) return 'Paid';
  return newest === undefined ? 'No payment yet' : `Not paid, payment ${newest.status.toLowerCase()}`;
}
