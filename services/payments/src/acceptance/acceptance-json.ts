import { formatUnits } from '@quittance/contracts/amount.ts';
import type { Acceptance, AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { unmatchedReasonFor } from '../settlement/unmatched-transfer.ts';
import type { AcceptanceRow } from '../store/acceptance.ts';
import type { Pair } from './accept-transfer.ts';

/** An acceptance as the operator gets it. It never changes afterwards, so a repeated one is answered byte for byte the same. */
export const toAcceptance = ({ amount_units, decimals, ...row }: AcceptanceRow): Acceptance => ({
  payment_id: row.payment_id,
  merchant_id: row.merchant_id,
  status: 'PAID',
  status_before: row.status_before,
  expected_amount: row.expected_amount,
  network: row.network,
  transaction_id: row.transaction_id,
  transaction_event_index: row.transaction_event_index,
  amount: formatUnits(BigInt(amount_units), decimals),
  unmatched_reason: row.unmatched_reason,
  block_number: Number(row.block_number),
  block_hash: row.block_hash,
  block_timestamp: rfc3339(row.block_timestamp),
  confirmations: row.confirmations,
  actor: row.actor,
  reason: row.reason,
  accepted_at: rfc3339(row.accepted_at),
});

/** A transfer of the ledger beside a payment for which it may be accepted, for the operator to compare. */
export const toCandidate = (pair: Pair): AcceptanceCandidate => ({
  payment_id: pair.payment.payment_id,
  merchant_id: pair.payment.merchant_id,
  status: pair.payment.status,
  expected_amount: pair.payment.amount,
  network: pair.transfer.network,
  transaction_id: pair.transfer.transaction_id,
  transaction_event_index: pair.transfer.transaction_event_index,
  amount: formatUnits(BigInt(pair.transfer.amount_units), pair.transfer.decimals),
  unmatched_reason: unmatchedReasonFor(pair.payment, pair.transfer),
  recipient: pair.transfer.recipient,
  block_timestamp: rfc3339(pair.transfer.block_timestamp),
  phase: pair.transfer.phase,
  pays: pair.transfer.payment_id,
});
