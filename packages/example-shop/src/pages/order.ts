import { articleOf } from '../catalogue.ts';
import { html, type Html } from '../html.ts';
import type { Order, WholeOrder } from '../orders.ts';
import { orderPath } from '../payments.ts';
import { page, time } from './layout.ts';

/** The shop's view of an order, for its customer. @param hasFailed when no payment could be created a moment ago. */
export function orderPage(order: WholeOrder, { hasFailed }: { hasFailed: boolean }): string {
  const [newest] = order.payments;
  const { tone, title, content } = stateOf(order, newest?.status);
  return page(
    `${title}: order ${order.number}`,
    html`<div class="state ${tone}">
        <h1>${title}</h1>
        ${hasFailed && order.paid_at === null ? html`<p role="alert">The payment could not be started.</p>` : ''}
        ${content}
      </div>
      <dl>
        <dt>Order</dt>
        <dd>${order.number}</dd>
        <dt>Article</dt>
        <dd>${articleOf(order.article)?.name ?? order.article}</dd>
        <dt>Price</dt>
        <dd>${order.price} ${order.currency}</dd>
        <dt>Ordered</dt>
        <dd>${time(order.created_at)}</dd>
      </dl>
      <p>Keep the address of this page: it is how you find your order again.</p>`,
  );
}

type State = { tone: 'good' | 'waiting' | 'bad'; title: string; content: Html };

function stateOf(order: Order, status: string | undefined): State {
  if (order.paid_at !== null)
    return { tone: 'good', title: 'Paid', content: html`<p>Thank you. We are packing it.</p>` };
  switch (status) {
    case undefined:
      return { tone: 'bad', title: 'Not paid yet', content: payButton(order, 'Try again') };
    case 'CHECKING':
    case 'PAID':
      return {
        tone: 'waiting',
        title: 'Payment found',
        content: html`<p>It is being confirmed, which can take some minutes.</p>
          <div class="actions">${lookAgain(order)}</div>`,
      };
    case 'EXPIRED':
    case 'CANCELLED':
      return {
        tone: 'bad',
        title: status === 'EXPIRED' ? 'The time to pay is over' : 'The payment was cancelled',
        content: html`<p>Nothing was paid in time as far as we know. If you want it still, start a new payment.</p>
          ${payButton(order, 'Pay again')}
          <p>Have you sent money already? Do not pay again, and write to us with the number of your order.</p>`,
      };
    default:
      return {
        tone: 'waiting',
        title: 'Not paid yet',
        content: html`<p>If you have just paid, it takes a moment until we know.</p>
          <div class="actions">
            ${lookAgain(order)} ${payButton(order, 'Go on paying')}
            <form method="post" action="${orderPath(order.order_id)}/cancel">
              <button class="quiet">Cancel</button>
            </form>
          </div>`,
      };
  }
}

const lookAgain = ({ order_id }: Order): Html => html`<a class="button" href="${orderPath(order_id)}">Look again</a>`;

const payButton = ({ order_id }: Order, label: string): Html =>
  html`<form method="post" action="${orderPath(order_id)}/pay"><button>${label}</button></form>`;
