import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';
import { type PaymentTimes, unmatchedReason } from './payment-window.ts';

/** Why a transfer that pays nothing does not pay this payment. @returns null when nothing is wrong with the transfer itself. */
export function unmatchedReasonFor(
  payment: PaymentTimes & { payment_id: string; status: string; amount_units: bigint },
  transfer: {
    amount_units: string;
    decimals: number;
    block_timestamp: Date;
    related_payment_id: string | null;
    reason: UnmatchedReason | null;
  },
): UnmatchedReason | null {
  if (transfer.related_payment_id === payment.payment_id) return transfer.reason;
  const expectedUnits = toTokenUnits(payment.amount_units, transfer.decimals);
  const transferUnits = BigInt(transfer.amount_units);
  // The right amount at the wrong time makes it another payment's business.
  if (expectedUnits === transferUnits) return null;
  return unmatchedReason(
    { ...payment, tokenUnits: expectedUnits },
    { tokenUnits: transferUnits, blockTime: transfer.block_timestamp },
  );
}
