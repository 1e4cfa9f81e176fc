import { formatUnits } from '@quittance/contracts/amount.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { type Pair, reasonOf } from './acceptance.ts';
import type { AcceptanceRow } from './store/acceptance.ts';

/** An acceptance as the operator gets it. Nothing in it changes afterwards, so a repeated one is answered byte for byte the same. */
export const toAcceptance = (row: AcceptanceRow): object => ({
  payment_id: row.payment_id,
  merchant_id: row.merchant_id,
  status: 'PAID',
  status_before: row.status_before,
  expected_amount: row.expected_amount,
  network: row.network,
  transaction_id: row.transaction_id,
  transaction_event_index: row.transaction_event_index,
  amount: formatUnits(BigInt(row.amount_units), row.decimals),
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
export const toCandidate = ({ payment, transfer }: Pair): object => ({
  payment_id: payment.payment_id,
  merchant_id: payment.merchant_id,
  status: payment.status,
  expected_amount: payment.amount,
  network: transfer.network,
  transaction_id: transfer.transaction_id,
  transaction_event_index: transfer.transaction_event_index,
  amount: formatUnits(BigInt(transfer.amount_units), transfer.decimals),
  unmatched_reason: reasonOf({ payment, transfer }),
  recipient: transfer.recipient,
  block_timestamp: rfc3339(transfer.block_timestamp),
  phase: transfer.phase,
  pays: transfer.payment_id,
});
