import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import type { FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { UnmatchedListed, UnmatchedPage } from '@quittance/contracts/http/payments/unmatched.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { mayBeFor } from './candidates.ts';
import { badge, facts, link, merchantLink, paymentLink, table, time, toPayment, type Cell } from './parts.ts';
import { reasonsPart } from './reasons.ts';
import { words } from './story.ts';

/** Unmatched transfers, each with the payments that it may be for. @param path where the list is. */
export const unmatchedTable = (page: UnmatchedPage, path: string, viewer: Viewer): Html =>
  html`${table('Unmatched transfers, newest first', page.transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Received: ({ amount }) => `${amount} USDT`,
    'Asked for': ({ related_payment: payment }) => payment && `${payment.amount} USDT`,
    Reason: ({ reason }) => words(reason),
    Payment: (transfer) => possiblePayments(transfer),
    ...(mayCall(viewer, AcceptTransfer.access) && { Actions: acceptLink }),
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Wallet: ({ merchant_wallet: wallet, network }) => `${wallet} on ${network}`,
    Transaction: ({ transaction_id: id }) => link(`/payments?q=${id}`, id),
  })}
  ${olderOnes(page, path)} ${reasonsPart(page.transfers)}`;

function possiblePayments({ related_payment: payment, ...transfer }: UnmatchedListed): Cell {
  return payment === null
    ? mayBeFor(transfer, toPayment)
    : html`${toPayment(payment.payment_id)} ${badge(payment.status)} ${payment.order_id ?? ''}`;
}

/** A payment that is paid, or about to be, takes no other transfer; of several, somebody has to say which one it is. */
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

/** A transfer that may be accepted, from the ledger or the chain. */
export type ChoiceTransfer = Pick<
  UnmatchedListed,
  'network' | 'transaction_id' | 'transaction_event_index' | 'amount' | 'merchant_wallet' | 'block_timestamp'
> & { candidates: readonly string[] } & {
  /** Null for what the ledger does not have. */
  recorded: { merchant_id: string; reason: string | null } | null;
};

/** A transfer, and the payments that it may be for; where none is known, those on its wallet. Others are found by what names them. */
export const choicePage = (
  transfer: ChoiceTransfer,
  { text, payments }: { text: string; payments: readonly FoundPayment[] },
): Html =>
  html`${facts({
      Received: `${transfer.amount} USDT`,
      'Block time': time(transfer.block_timestamp),
      Wallet: `${transfer.merchant_wallet} on ${transfer.network}`,
      ...(transfer.recorded !== null && {
        Merchant: merchantLink(transfer.recorded.merchant_id),
        Reason: transfer.recorded.reason === null ? 'no reason against it' : words(transfer.recorded.reason),
      }),
      Transaction: transfer.transaction_id,
    })}
    <form method="get" action="${chooseFor(transfer.transaction_id, transfer.transaction_event_index)}" role="search">
      <label for="payment">For which payment? Its id, checkout link, order id or reference</label>
      <input id="payment" name="payment" type="search" value="${text}" maxlength="500" autocomplete="off" />
      <button>Find</button>
    </form>
    ${table(titleOf(text, transfer), payments, {
      Payment: ({ payment_id: id }) => paymentLink(id),
      Status: ({ status }) => badge(status),
      Amount: ({ amount, currency }) => `${amount} ${currency}`,
      Order: ({ order_id: order }) => order,
      Created: ({ created_at: at }) => time(at),
      Merchant: ({ merchant_id: id }) => merchantLink(id),
      Actions: (payment) =>
        payment.network === transfer.network && payment.status !== 'PAID' && payment.status !== 'CHECKING'
          ? link(
              `/payments/${payment.payment_id}/accept?transaction_id=${transfer.transaction_id}&index=${transfer.transaction_event_index}`,
              'Accept for this',
            )
          : null,
    })}`;

function titleOf(text: string, { candidates }: ChoiceTransfer): string {
  if (text !== '') return 'Payments found';
  return candidates.length > 0 ? 'Payments that it may be for' : 'Payments on this wallet';
}

function olderOnes({ transfers, next_cursor: cursor, looked_through: until }: UnmatchedPage, path: string): Html | [] {
  if (cursor === null) return [];
  const older = html`<a href="${path}?cursor=${cursor}">Older ones</a>`;
  return transfers.length > 0 ? html`<p>${older}</p>` : html`<p>None since ${until ?? ''}. ${older}</p>`;
}
