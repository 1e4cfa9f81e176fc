import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import type { CheckoutLookup, PaymentWarning, UnmatchedReason, WaitingFor } from '../../api/payment.ts';
import { query } from '../../query.ts';
import type { LookedUp } from '../chain-watcher/look-ups.ts';
import type { TransferId } from '../chain-watcher/transfers.ts';

/** What became of a transaction, as far as a merchant is concerned. */
export const explanationCodes = [
  /** A transfer of it pays a payment, or is about to. */
  'pays_payment',
  /** It reached a wallet of the merchant's and pays nothing. */
  'unmatched',
  /** It moved money to nobody's wallet here. */
  'not_your_wallet',
  /** It brought another token, or the network's own coin, to a wallet of the merchant's. */
  'other_token',
  /** It failed on chain and moved nothing. */
  'failed',
  /** It is in no block that stands. */
  'pending',
  /** No network that is on has it. */
  'unknown',
  /** It has not been read, or could not be looked up, yet. */
  'not_read_yet',
] as const;

export type ExplanationCode = (typeof explanationCodes)[number];

/** A transfer of the ledger as the merchant to whose wallet it went reads it. */
export type FoundTransfer = TransferId & {
  /** Decimal text in USDT. */
  amount: string;
  merchant_wallet: string;
  /** Canonical address. */
  sender: string;
  block_number: number;
  block_timestamp: string;
  state: 'seen' | 'confirmed' | 'retracted';
  /** What a seen one still needs; null for others. */
  waiting_for: WaitingFor | null;
  /** The payment that it pays, or is about to; with a reason the only one that it may be for. Null when there are several, or none. */
  payment_id: string | null;
  /** Why it does not pay that payment; null when it does. */
  reason: UnmatchedReason | null;
  /** The payments that it may be for, at most 20: a merchant's own. */
  candidates: string[];
  /** Whether another merchant has one of them; then only an operator accepts it. */
  candidates_elsewhere: boolean;
};

export type FoundTransfers = {
  transfers: FoundTransfer[];
  /** A sentence or two for people. */
  explanation: string;
  explanation_code: ExplanationCode;
};

/** Where the money of a transaction is: the ledger first, and only what it does not have is looked up on chain. */
export const FindMerchantTransfers = defineCall(
  'payments',
  'GET /merchants/:merchant_id/transfers',
  json<FoundTransfers>(),
  { callers: ['api-gateway'], forMerchants: true, query: { transaction_id: query.transactionId } },
);

/** The same for operators: transfers to all merchants' wallets, and what the chain shows of what the ledger does not have. */
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

/** What the checkout page says beside the public status: about money that came, and about a transaction that its reader has named. */
export type CheckoutHelp = {
  arrived: { amount: string } | null;
  lookup: CheckoutLookup | null;
  warnings: PaymentWarning[];
};

/**
 * 404 for an unknown token. Asked only for the page itself, never for the status that it polls. `client_sha256` is of the reader's address, by
 * which look-ups are counted; hex.
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
