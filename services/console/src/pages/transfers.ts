import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import type { FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { UnmatchedListed, UnmatchedPage } from '@quittance/contracts/http/payments/unmatched.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { badge, facts, link, merchantLink, paymentLink, table, time, type Cell } from './parts.ts';

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

/** A payment that is paid, or about to be, takes no other transfer: then somebody has to say which one it is for. */
function acceptLink({
  related_payment: payment,
  transaction_id: id,
  transaction_event_index: index,
}: UnmatchedListed): Cell {
  return payment === null || payment.status === 'PAID' || payment.status === 'CHECKING'
    ? link(chooseFor(id, index), 'Choose the payment')
    : link(`/payments/${payment.payment_id}/accept?transaction_id=${id}&index=${index}`, 'Accept');
}

/** Where the payment is chosen for which a transfer is accepted. */
export const chooseFor = (transactionId: string, index: number): string =>
  `/transfers/${transactionId}/${index}/accept`;

/** What came, and the payments on its wallet and network for which it could be accepted. Others are found by what names them. */
export const choicePage = (
  transfer: LocatedTransfers['transfers'][number] & { transaction_id: string },
  { text, payments }: { text: string; payments: readonly FoundPayment[] },
): Html =>
  html`${facts({
      Came: `${transfer.amount} USDT`,
      'Block time': time(transfer.block_timestamp),
      Wallet: `${transfer.merchant_wallet} on ${transfer.network}`,
      Merchant: merchantLink(transfer.merchant_id),
      Transaction: transfer.transaction_id,
      'Pays nothing': transfer.reason?.replaceAll('_', ' ') ?? 'no reason against it',
    })}
    <form method="get" action="${chooseFor(transfer.transaction_id, transfer.transaction_event_index)}" role="search">
      <label for="payment">For which payment? Its id, checkout link, order id or reference</label>
      <input id="payment" name="payment" type="search" value="${text}" maxlength="500" autocomplete="off" />
      <button>Find</button>
    </form>
    ${table(text === '' ? 'Payments on this wallet' : 'Payments found', payments, {
      Payment: ({ payment_id: id }) => paymentLink(id),
      Status: ({ status }) => badge(status),
      Amount: ({ amount, currency }) => `${amount} ${currency}`,
      Order: ({ order_id: order }) => order,
      Created: ({ created_at: at }) => time(at),
      Merchant: ({ merchant_id: id }) => merchantLink(id),
      Do: (payment) =>
        payment.network === transfer.network && payment.status !== 'PAID' && payment.status !== 'CHECKING'
          ? link(
              `/payments/${payment.payment_id}/accept?transaction_id=${transfer.transaction_id}&index=${transfer.transaction_event_index}`,
              'Accept for this',
            )
          : null,
    })}`;

function olderOnes({ transfers, next_cursor: cursor, looked_through: until }: UnmatchedPage, path: string): Html | [] {
  if (cursor === null) return [];
  const older = html`<a href="${path}?cursor=${cursor}">Older ones</a>`;
  return transfers.length > 0 ? html`<p>${older}</p>` : html`<p>None since ${until ?? ''}. ${older}</p>`;
}
