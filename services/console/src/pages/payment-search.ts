import { html, type Html } from '@quittance/checkout-page/html.ts';
import { AcceptTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import type { FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { mayBeFor } from './candidates.ts';
import { transfersOnChain } from './on-chain.ts';
import { badge, link, merchantLink, paymentLink, table, time, toPayment, walletLink, type Cell } from './parts.ts';
import { words } from './story.ts';
import { chooseFor, type ChoiceTransfer } from './transfers.ts';

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
export const locatedTable = (located: LocatedTransfers, viewer: Viewer): Html =>
  html`<p>${located.explanation}</p>
    ${located.transfers.length > 0 || located.chain === null ? recordedTable(located, viewer) : chainTable(located, viewer)}`;

const recordedTable = ({ transfers, transaction_id: id }: LocatedTransfers, viewer: Viewer): Html =>
  table('Transfers of this transaction', transfers, {
    Amount: ({ amount }) => `${amount} USDT`,
    Network: ({ network }) => network,
    Wallet: ({ merchant_wallet: wallet }) => wallet,
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    'Block time': ({ block_timestamp: at }) => time(at),
    State: ({ state }) => badge(state),
    Payment: (transfer) => paymentLink(transfer.payment_id) ?? mayBeFor(transfer, toPayment),
    Reason: ({ reason }) => reason && words(reason),
    ...(mayCall(viewer, AcceptTransfer.access) && {
      Actions: (transfer: Located) => acceptLink(transfer, id),
    }),
  });

/** What the ledger does not have may be accepted all the same: the chain is asked again then. */
const chainTable = ({ chain, transaction_id: id }: LocatedTransfers, viewer: Viewer): Html =>
  table('Transfers of this transaction on chain', transfersOnChain(id, chain), {
    Amount: ({ amount }) => `${amount} USDT`,
    Network: ({ network }) => network,
    Wallet: ({ merchant_wallet: wallet }) => walletLink(wallet),
    'Block time': ({ block_timestamp: at }) => time(at),
    ...(mayCall(viewer, AcceptTransfer.access) && {
      Actions: ({ transaction_event_index: index }: ChoiceTransfer) => link(chooseFor(id, index), 'Choose the payment'),
    }),
  });

type Located = LocatedTransfers['transfers'][number];

/** Without a reason it pays its payment; a payment that another one pays takes no second. */
function acceptLink({ payment_id, reason, state, transaction_event_index: index }: Located, id: string): Cell {
  if (state === 'retracted' || (payment_id !== null && reason === null)) return null;
  return payment_id === null || reason === 'duplicate'
    ? link(chooseFor(id, index), 'Choose the payment')
    : link(`/payments/${payment_id}/accept?transaction_id=${id}&index=${index}`, 'Accept');
}
