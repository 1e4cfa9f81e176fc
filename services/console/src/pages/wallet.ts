import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReleaseWallet, type Wallet } from '@quittance/contracts/http/payments/wallets.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { mayBeFor } from './candidates.ts';
import { facts, link, merchantLink, table, time, toPayment } from './parts.ts';
import { reasonsPart } from './reasons.ts';
import { words } from './story.ts';

export const walletPage = (wallet: Wallet, viewer: Viewer): Html =>
  html`${facts({
    Wallet: wallet.address,
    'Belongs to': wallet.merchant_id === null ? 'nobody: the next to use it gets it' : merchantLink(wallet.merchant_id),
    Since: time(wallet.bound_at),
    Proven: time(wallet.proven_at),
    Payments: link(`/payments?q=${wallet.address}`, 'Payments on this wallet'),
  })}
  ${
    wallet.merchant_id !== null && mayCall(viewer, ReleaseWallet.access)
      ? html`<p class="actions">${link(`/wallets/${wallet.address}/release`, 'Release')}</p>`
      : []
  }
  ${table('Unmatched transfers', wallet.unmatched_transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Amount: ({ amount }) => `${amount} USDT`,
    Network: ({ network }) => network,
    Reason: ({ reason }) => words(reason),
    Payment: (transfer) => mayBeFor(transfer, toPayment),
    Transaction: ({ transaction_id: id }) => link(`/payments?q=${id}`, id),
  })}
  ${reasonsPart(wallet.unmatched_transfers)}
  ${table('Released', wallet.releases, {
    When: ({ released_at: at }) => time(at),
    Who: ({ actor }) => actor,
    From: ({ merchant_id: id }) => merchantLink(id),
    Why: ({ reason }) => reason,
  })}
  ${table('Proven', wallet.proofs, {
    When: ({ proven_at: at }) => time(at),
    Who: ({ actor }) => actor,
    By: ({ merchant_id: id }) => merchantLink(id),
    'Taken from': ({ taken_from: id }) => (id === null ? null : merchantLink(id)),
    'Payments cancelled': ({ cancelled_payments: cancelled }) => cancelled,
    Why: ({ reason }) => reason,
  })}`;
