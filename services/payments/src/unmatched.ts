import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedReason, UnmatchedTransfer } from '@quittance/contracts/payment.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { unmatchedReason, type Waiting } from './windows.ts';

/** A detailed payment shows at most this many transfers that pay nothing. */
export const UNMATCHED_MAX = 100;

/** A transfer of the ledger that pays nothing. */
export type IdleTransfer = {
  transaction_id: string;
  transaction_event_index: number;
  /** Base units of the token, which has `decimals` decimals. */
  tokenUnits: bigint;
  decimals: number;
  block_timestamp: Date;
  related_payment_id: string | null;
  /** One of UnmatchedReason: the table's check allows nothing else. */
  reason: string | null;
};

type Payment = Waiting & { payment_id: string; status: string; amount_units: bigint };

/** @returns null for a transfer that may still pay this payment, or whose amount made it another payment's affair. */
export function toUnmatched(payment: Payment, transfer: IdleTransfer): UnmatchedTransfer | null {
  const reason = unmatchedReasonFor(payment, transfer);
  if (reason === null) return null;
  return {
    transaction_id: transfer.transaction_id,
    transaction_event_index: transfer.transaction_event_index,
    amount: formatUnits(transfer.tokenUnits, transfer.decimals),
    block_timestamp: rfc3339(transfer.block_timestamp),
    reason,
  };
}

/** Why a transfer that pays nothing does not pay this payment. @returns null when nothing is wrong with the transfer itself. */
export function unmatchedReasonFor(
  payment: Payment,
  transfer: Omit<IdleTransfer, 'transaction_id' | 'transaction_event_index'>,
): UnmatchedReason | null {
  if (transfer.related_payment_id === payment.payment_id) return transfer.reason as UnmatchedReason | null;
  const tokenUnits = toTokenUnits(payment.amount_units, transfer.decimals);
  if (tokenUnits === transfer.tokenUnits) return null;
  return unmatchedReason({ ...payment, tokenUnits }, { ...transfer, blockTime: transfer.block_timestamp });
}
