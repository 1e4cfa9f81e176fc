import type { Author } from '../../author.ts';
import { defineCall, json } from '../../call.ts';
import type { UnmatchedReason } from '../../payment.ts';
import type { TransferId } from '../chain-watcher/transfers.ts';

/** A transfer to a wallet that pays nothing, and the payment that it was probably meant for. */
export type UnmatchedOnWallet = TransferId & {
  /** Decimal text in USDT. */
  amount: string;
  block_timestamp: string;
  phase: string;
  /** Whose payment that is; where there is none, for whom the wallet is watched. */
  merchant_id: string;
  related_payment_id: string | null;
  /** `unconfirmed`: it pays that payment as soon as it is confirmed. `no_payment`: no payment has ever been on the wallet. */
  reason: UnmatchedReason | 'unconfirmed' | 'no_payment';
};

/**
 * A wallet and its past. `merchant_id` and `bound_at` are null while it belongs to no merchant; releases are the newest hundred, and so
 * are the transfers on each network.
 */
export type Wallet = {
  /** Canonical. */
  address: string;
  merchant_id: string | null;
  bound_at: string | null;
  releases: (Author & { merchant_id: string; released_at: string })[];
  unmatched_transfers: UnmatchedOnWallet[];
};

/** 422 for a text that is no address. */
export const ReadWallet = defineCall('payments', 'GET /wallets/:address', json<Wallet>(), { access: 'viewer' });

/** A wallet and the merchant that lost it. */
export type ReleasedWallet = { address: string; merchant_id: string };

/** Takes a wallet from its merchant; the next one that creates a payment on it gets it. 404 when it belongs to none. */
export const ReleaseWallet = defineCall('payments', 'POST /wallets/:address/release', json<ReleasedWallet>(), {
  authored: true,
  access: 'admin',
});
