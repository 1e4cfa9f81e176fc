import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import type { UnmatchedListed, UnmatchedPage } from '@quittance/contracts/http/payments/unmatched.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { badge, link, merchantLink, paymentLink, table, time, type Cell } from './parts.ts';

/** Transfers that pay nothing, each beside the payment that it was probably meant for. @param path where the list is. */
export const unmatchedTable = (page: UnmatchedPage, path: string, viewer: Viewer): Html =>
  html`${table('Transfers that pay nothing, newest first', page.transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Came: ({ amount }) => `${amount} USDT`,
    'Asked for': ({ related_payment: payment }) => payment && `${payment.amount} USDT`,
    'Why it does not pay': ({ reason }) => reason.replaceAll('_', ' '),
    'Probably for': (transfer) => meantFor(transfer),
    ...(mayCall(viewer, AcceptTransfer.access) && { Do: acceptLink }),
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Wallet: ({ merchant_wallet: wallet, network }) => `${wallet} on ${network}`,
    Transaction: ({ transaction_id: id }) => link(`/payments?q=${id}`, id),
  })}
  ${olderOnes(page, path)}`;

const meantFor = ({ related_payment_id: id, related_payment: payment }: UnmatchedListed): Cell =>
  payment === null
    ? paymentLink(id)
    : html`${link(`/payments/${payment.payment_id}`, payment.payment_id)} ${badge(payment.status)}
      ${payment.order_id ?? ''}`;

/** A payment that is paid, or about to be, takes no other transfer. */
function acceptLink({
  related_payment: payment,
  transaction_id: id,
  transaction_event_index: index,
}: UnmatchedListed): Cell {
  if (payment === null || payment.status === 'PAID' || payment.status === 'CHECKING') return null;
  return link(`/payments/${payment.payment_id}/accept?transaction_id=${id}&index=${index}`, 'Accept');
}

function olderOnes({ transfers, next_cursor: cursor, looked_through: until }: UnmatchedPage, path: string): Html | [] {
  if (cursor === null) return [];
  const older = html`<a href="${path}?cursor=${cursor}">Older ones</a>`;
  return transfers.length > 0 ? html`<p>${older}</p>` : html`<p>None since ${until ?? ''}. ${older}</p>`;
}
