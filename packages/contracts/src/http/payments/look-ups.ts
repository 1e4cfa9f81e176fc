import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages.ts';
import type { PaymentWarning, UnmatchedReason } from '../../api/payment.ts';
import type { CheckoutLookup } from '../../api/checkout.ts';
import type { WaitingFor } from '../../api/transaction.ts';
import { query } from '../../query.ts';
import type { LookedUp } from '../chain-watcher/look-ups.ts';
import type { TransferId } from '../chain-watcher/transfers.ts';

/** The state of a transaction, as the merchant sees it. */
export const explanationCodes = [
  /** One of its transfers pays a payment, or is about to. */
  'pays_payment',
  /** It went to one of the merchant's wallets and pays nothing. */
  'unmatched',
  /** It sent nothing to the merchant's wallets. */
  'not_your_wallet',
  /** It sent another token, or the network's own coin, to one of the merchant's wallets. */
  'other_token',
  /** It failed on chain and moved nothing. */
  'failed',
  /** It is not in a block of the canonical chain. */
  'pending',
  /** It was not found on any enabled network. */
  'unknown',
  /** It has not been read yet, or could not be looked up. */
  'not_read_yet',
] as const;

export type ExplanationCode = (typeof explanationCodes)[number];

/** A transfer in the ledger, as the merchant that received it reads it. */
export type FoundTransfer = TransferId & {
  /** Decimal text in USDT. */
  amount: string;
  merchant_wallet: string;
  /** Canonical address. */
  sender: string;
  block_number: number;
  block_timestamp: string;
  state: 'seen' | 'confirmed' | 'retracted';
  /** What a seen transfer still needs; null for others. */
  waiting_for: WaitingFor | null;
  /**
   * The payment that it pays or is about to pay; if `reason` is set, the only one that it may be for. Null when there
   * are several or none.
   */
  payment_id: string | null;
  /** Why it doesn't pay that payment; null when it does. */
  reason: UnmatchedReason | null;
  /** The merchant's payments that it may be for, at most 20. */
  candidates: string[];
  /** Whether it may also be for another merchant's payment. Then only an operator can accept it. */
  candidates_elsewhere: boolean;
};

export type FoundTransfers = {
  transfers: FoundTransfer[];
  /** A sentence or two for people. */
  explanation: string;
  explanation_code: ExplanationCode;
};

/**
 * Finds the transfers of a transaction. Reads the ledger first, and looks up on chain only what the ledger doesn't
 * have.
 */
export const FindMerchantTransfers = defineCall(
  'payments',
  'GET /merchants/:merchant_id/transfers',
  json<FoundTransfers>(),
  { callers: ['api-gateway'], forMerchants: 'viewer', query: { transaction_id: query.transactionId } },
);

/** The same for operators: transfers to all merchants' wallets, and what the chain shows if the ledger has none. */
export type LocatedTransfers = {
  transaction_id: string;
  transfers: (FoundTransfer & { merchant_id: string })[];
  explanation: string;
  explanation_code: ExplanationCode;
  chain: LookedUp | null;
};

export const LocateTransfers = defineCall('payments', 'GET /transfers/:transaction_id', json<LocatedTransfers>(), {
  access: 'viewer',
});

export type CheckoutQuestion = { token_sha256: string; transaction_id?: string; client_sha256?: string };

/**
 * What the checkout page shows in addition to the public status: about money that arrived, and about a transaction that
 * the customer entered.
 */
export type CheckoutHelp = {
  arrived: { amount: string } | null;
  lookup: CheckoutLookup | null;
  warnings: PaymentWarning[];
};

/**
 * 404 for an unknown token. Called only for the page itself, never for the status that it polls. `client_sha256` is the
 * hash of the customer's address, by which look-ups are counted; hex.
 */
export const ReadCheckoutHelp = defineCall('payments', 'POST /checkout-help', json<CheckoutHelp>(), {
  callers: ['api-gateway'],
  body: object<CheckoutQuestion>(
    { token_sha256: fields.sha256, transaction_id: fields.transactionId, client_sha256: fields.sha256 },
    { optional: ['transaction_id', 'client_sha256'] },
  ),
  idempotent: true,
  changes: false,
});
