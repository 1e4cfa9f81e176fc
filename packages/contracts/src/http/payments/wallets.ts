import type { Author } from '../../author.ts';
import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages.ts';
import type { UnmatchedReason } from '../../api/payment.ts';
import type { TransferId } from '../chain-watcher/transfers.ts';

/** An unmatched transfer to a wallet, and the payments that it may be for. */
export type UnmatchedOnWallet = TransferId & {
  /** Decimal text in USDT. */
  amount: string;
  block_timestamp: string;
  phase: string;
  /** The merchant of that payment; without a payment, the merchant for whom the wallet is watched. */
  merchant_id: string;
  /** The payment that it may be for if there is exactly one, else null. */
  related_payment_id: string | null;
  /** All payments that it may be for, at most 20. A merchant sees only its own. */
  candidates: string[];
  /** Whether it may also be for another merchant's payment. Then only an operator can accept it. */
  candidates_elsewhere: boolean;
  /** `unconfirmed`: it pays that payment when it is confirmed. `no_payment`: the wallet never had a payment. */
  reason: UnmatchedReason | 'unconfirmed' | 'no_payment';
};

/**
 * A wallet and its history. `merchant_id` and `bound_at` are null while it belongs to no merchant. `proven_at` is also
 * null while its merchant was only the first to use it. Releases and proofs are the newest hundred, and so are the
 * transfers on each network.
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

/** A wallet's proof of ownership, and its effects. */
export type ProvenWallet = Author & {
  address: string;
  merchant_id: string;
  /** Null when it belonged to no other merchant. */
  taken_from: string | null;
  /** Payments of other merchants that were waiting on it and were cancelled. */
  cancelled_payments: number;
  signed_text: string;
  signature: string;
  proven_at: string;
};

/** 422 for a text that is not an address. */
export const ReadWallet = defineCall('payments', 'GET /wallets/:address', json<Wallet>(), { access: 'viewer' });

/** A merchant's wallet; `proven_at` is null if the merchant was only the first to use it. */
export type OwnWallet = { address: string; bound_at: string; proven_at: string | null };

/** The newest hundred wallets of a merchant. */
export const ListWallets = defineCall(
  'payments',
  'GET /merchants/:merchant_id/wallets',
  json<{ wallets: OwnWallet[] }>(),
  { access: 'viewer', forMerchants: 'viewer' },
);

/** A wallet and its previous merchant. */
export type ReleasedWallet = { address: string; merchant_id: string };

/**
 * Takes a wallet from its merchant. The next merchant that creates a payment with it gets it. 404 when it belongs to
 * none.
 */
export const ReleaseWallet = defineCall('payments', 'POST /wallets/:address/release', json<ReleasedWallet>(), {
  authored: true,
  confirmed: true,
  access: 'admin',
});

/** The exact text that the owner of the wallet's key must sign. */
export type WalletChallenge = { address: string; merchant_id: string; text: string; ends_at: string };

/**
 * Opens a challenge, which replaces the merchant's earlier one for this wallet. 404 for a merchant that payments
 * doesn't know.
 */
export const ChallengeWallet = defineCall('payments', 'POST /wallets/:address/challenge', json<WalletChallenge>(), {
  access: 'support',
  body: object<{ merchant_id: string }>({ merchant_id: fields.merchantId }),
  idempotent: true,
});

const signatureSchema = { type: 'string', minLength: 1, maxLength: 500 } as const;

/**
 * Gives a wallet to the merchant whose challenge is signed with its key. 409 without an open challenge, 422 for a
 * different signature.
 */
export const ProveWallet = defineCall('payments', 'POST /wallets/:address/proof', json<ProvenWallet>(), {
  body: object<{ merchant_id: string; signature: string }>({
    merchant_id: fields.merchantId,
    signature: signatureSchema,
  }),
  authored: true,
  confirmed: true,
  access: 'admin',
});

/** The same two, by an owner of the merchant for a wallet of its own. */
export const ChallengeOwnWallet = defineCall(
  'payments',
  'POST /merchants/:merchant_id/wallets/:address/challenge',
  json<WalletChallenge>(),
  { authored: true, forMerchants: 'owner', idempotent: true },
);

export const ProveOwnWallet = defineCall(
  'payments',
  'POST /merchants/:merchant_id/wallets/:address/proof',
  json<ProvenWallet>(),
  {
    body: object<{ signature: string }>({ signature: signatureSchema }),
    authored: true,
    forMerchants: 'owner',
    confirmed: true,
  },
);
