import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReleaseWallet, type Wallet } from '@quittance/contracts/http/payments/wallets.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { facts, link, merchantLink, paymentLink, table, time } from './parts.ts';

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
  ${table('Transfers that pay nothing', wallet.unmatched_transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Amount: ({ amount }) => `${amount} USDT`,
    Network: ({ network }) => network,
    'Why it does not pay': ({ reason }) => reason.replaceAll('_', ' '),
    'Probably for': ({ related_payment_id: id }) => paymentLink(id),
    Transaction: ({ transaction_id: id }) => link(`/payments?q=${id}`, id),
  })}
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
