import { defineCall, json, object } from '../../call.ts';
import { CANDIDATES_MAX, type Payment, type PaymentStatus, type UnmatchedReason } from '../../api/payment.ts';
import { transferIdSchemas, type TransferId } from '../chain-watcher/transfers.ts';

type Pair = TransferId & {
  payment_id: string;
  merchant_id: string;
  status: PaymentStatus;
  /** What the payment asks for, and what the transfer brings; decimal text in USDT. */
  expected_amount: string;
  amount: string;
  unmatched_reason: UnmatchedReason | null;
  block_timestamp: string;
};

/** A transfer of the ledger beside a payment for which it may be accepted. */
export type AcceptanceCandidate = Pair & {
  recipient: string;
  phase: string;
  /** The payment that it pays already, or null. */
  pays: string | null;
  /** All payments that it may be for, of any merchant. */
  candidates: string[];
};

/** Nothing in it changes afterwards, so a repeated one is answered byte for byte the same. */
export type Acceptance = Pair & {
  status: 'PAID';
  status_before: PaymentStatus;
  block_number: number;
  block_hash: string;
  confirmations: number;
  actor: string;
  reason: string;
  accepted_at: string;
};

/** What accepting the transfer would mean, for the person who decides. */
export const ReadAcceptanceCandidate = defineCall(
  'payments',
  'GET /payments/:payment_id/transfers/:transaction_id/:transaction_event_index',
  json<AcceptanceCandidate>(),
  { access: 'viewer' },
);

/**
 * `confirm_candidates`: how many payments the transfer may be for, as the caller was shown. Required when there are several.
 */
export type AcceptedTransfer = Omit<TransferId, 'network'> & { confirm_candidates?: number };

const acceptedTransfer = object<AcceptedTransfer>(
  { ...transferIdSchemas, confirm_candidates: { type: 'integer', minimum: 1, maximum: CANDIDATES_MAX } },
  { optional: ['confirm_candidates'] },
);

/** Makes a transfer that pays nothing pay this payment. */
export const AcceptTransfer = defineCall('payments', 'POST /payments/:payment_id/accept-transfer', json<Acceptance>(), {
  authored: true,
  access: 'support',
  body: acceptedTransfer,
});

/**
 * The same on the word of the payment's merchant, for a transfer that is confirmed and carries at least the deployment's least share of the
 * amount. 404 for another merchant's payment, 409 with a sentence for a transfer that cannot be accepted, 503 when no endpoint of the network
 * answers.
 */
export const AcceptTransferAsMerchant = defineCall(
  'payments',
  'POST /merchants/:merchant_id/payments/:payment_id/accept-transfer',
  json<Payment>(),
  { callers: ['api-gateway'], body: acceptedTransfer, idempotent: true },
);
