import type { Author } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import type { UnmatchedReason } from '../../api/payment.ts';
import type { TransferId } from '../chain-watcher/transfers.ts';

/** A transfer to a wallet that pays nothing, and the payments that it may be for. */
export type UnmatchedOnWallet = TransferId & {
  /** Decimal text in USDT. */
  amount: string;
  block_timestamp: string;
  phase: string;
  /** Whose payment that is; where there is none, for whom the wallet is watched. */
  merchant_id: string;
  /** The payment that it may be for when there is exactly one, else null. */
  related_payment_id: string | null;
  /** All payments that it may be for, at most 20; a merchant is shown its own. */
  candidates: string[];
  /** Whether another merchant has one of them; then only an operator accepts it. */
  candidates_elsewhere: boolean;
  /** `unconfirmed`: it pays that payment as soon as it is confirmed. `no_payment`: no payment has ever been on the wallet. */
  reason: UnmatchedReason | 'unconfirmed' | 'no_payment';
};

/**
 * A wallet and its past. `merchant_id` and `bound_at` are null while it belongs to no merchant, `proven_at` also while its merchant only
 * used it first. Releases and proofs are the newest hundred, and so are the transfers on each network.
 */
export type Wallet = {
  /** Canonical. */
  address: string;
  merchant_id: string | null;
  bound_at: string | null;
  proven_at: string | null;
  releases: (Author & { merchant_id: string; released_at: string })[];
  proofs: ProvenWallet[];
  unmatched_transfers: UnmatchedOnWallet[];
};

/** Who proved a wallet, and what came of it. */
export type ProvenWallet = Author & {
  address: string;
  merchant_id: string;
  /** Null when it belonged to nobody else. */
  taken_from: string | null;
  /** Payments of others that waited on it and were cancelled. */
  cancelled_payments: number;
  signed_text: string;
  signature: string;
  proven_at: string;
};

/** 422 for a text that is no address. */
export const ReadWallet = defineCall('payments', 'GET /wallets/:address', json<Wallet>(), { access: 'viewer' });

/** A merchant's wallet; `proven_at` is null where it only used it first. */
export type OwnWallet = { address: string; bound_at: string; proven_at: string | null };

/** The hundred that came to a merchant last, newest first. */
export const ListWallets = defineCall(
  'payments',
  'GET /merchants/:merchant_id/wallets',
  json<{ wallets: OwnWallet[] }>(),
  { access: 'viewer' },
);

/** A wallet and the merchant that lost it. */
export type ReleasedWallet = { address: string; merchant_id: string };

/** Takes a wallet from its merchant; the next one that creates a payment on it gets it. 404 when it belongs to none. */
export const ReleaseWallet = defineCall('payments', 'POST /wallets/:address/release', json<ReleasedWallet>(), {
  authored: true,
  access: 'admin',
});

/** What the owner of a wallet's key is to sign, exactly as it stands. */
export type WalletChallenge = { address: string; merchant_id: string; text: string; ends_at: string };

/** Opens a challenge in place of the merchant's earlier one for this wallet. 404 for a merchant that payments does not know. */
export const ChallengeWallet = defineCall('payments', 'POST /wallets/:address/challenge', json<WalletChallenge>(), {
  access: 'support',
  body: object<{ merchant_id: string }>({ merchant_id: fields.merchantId }),
  idempotent: true,
});

/** Makes a wallet the merchant's whose challenge its key has signed. 409 without an open challenge, 422 for another signature. */
export const ProveWallet = defineCall('payments', 'POST /wallets/:address/proof', json<ProvenWallet>(), {
  body: object<{ merchant_id: string; signature: string }>({
    merchant_id: fields.merchantId,
    signature: { type: 'string', minLength: 1, maxLength: 500 },
  }),
  authored: true,
  access: 'admin',
});
