import type { Author } from '../../author.ts';
import { defineCall, json } from '../../call.ts';

/** A wallet and its past. `merchant_id` and `bound_at` are null while it belongs to no merchant; releases are the newest hundred. */
export type Wallet = {
  /** Canonical. */
  address: string;
  merchant_id: string | null;
  bound_at: string | null;
  releases: (Author & { merchant_id: string; released_at: string })[];
};

/** 422 for a text that is no address. */
export const ReadWallet = defineCall('payments', 'GET /wallets/:address', json<Wallet>());

/** A wallet and the merchant that lost it. */
export type ReleasedWallet = { address: string; merchant_id: string };

/** Takes a wallet from its merchant; the next one that creates a payment on it gets it. 404 when it belongs to none. */
export const ReleaseWallet = defineCall('payments', 'POST /wallets/:address/release', json<ReleasedWallet>(), {
  authored: true,
});
