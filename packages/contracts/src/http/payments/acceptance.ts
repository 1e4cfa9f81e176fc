import { defineCall, json, object } from '../../call.ts';
import { CANDIDATES_MAX, type Payment, type PaymentStatus, type UnmatchedReason } from '../../api/payment.ts';
import { transferIdSchemas, type TransferId } from '../chain-watcher/transfers.ts';

type Pair = TransferId & {
  payment_id: string;
  merchant_id: string;
  status: PaymentStatus;
  /** The payment's amount and the transfer's amount, decimal text in USDT. */
  expected_amount: string;
  amount: string;
  unmatched_reason: UnmatchedReason | null;
  block_timestamp: string;
};

/** A transfer of the ledger, with a payment for which it may be accepted. */
export type AcceptanceCandidate = Pair & {
  recipient: string;
  phase: string;
  /** The payment that it already pays, or null. */
  pays: string | null;
  /** All payments that it may be for, of any merchant. */
  candidates: string[];
};

/** Nothing in it changes afterwards, so a repeated request gets byte for byte the same answer. */
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

/** The effects of accepting the transfer, for the person who decides. */
export const ReadAcceptanceCandidate = defineCall(
  'payments',
  'GET /payments/:payment_id/transfers/:transaction_id/:transaction_event_index',
  json<AcceptanceCandidate>(),
  { access: 'viewer' },
);

/**
 * `confirm_candidates`: how many payments the transfer may be for, as shown to the caller. Required when there are
 * several.
 */
export type AcceptedTransfer = Omit<TransferId, 'network'> & { confirm_candidates?: number };

const acceptedTransfer = object<AcceptedTransfer>(
  { ...transferIdSchemas, confirm_candidates: { type: 'integer', minimum: 1, maximum: CANDIDATES_MAX } },
  { optional: ['confirm_candidates'] },
);

/** Makes an unmatched transfer pay this payment. */
export const AcceptTransfer = defineCall('payments', 'POST /payments/:payment_id/accept-transfer', json<Acceptance>(), {
  authored: true,
  access: 'support',
  confirmed: true,
  body: acceptedTransfer,
});

/**
 * The same, requested by the payment's merchant, for a confirmed transfer that carries at least the deployment's
 * minimum share of the amount. 404 for another merchant's payment; 409 with a sentence for a transfer that can't be
 * accepted; 503 when no endpoint of the network answers.
 */
export const AcceptTransferAsMerchant = defineCall(
  'payments',
  'POST /merchants/:merchant_id/payments/:payment_id/accept-transfer',
  json<Payment>(),
  { callers: ['api-gateway'], body: acceptedTransfer, idempotent: true },
);
