import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';

/** The times that decide when a payment starts waiting for money and when it stops. */
export type PaymentTimes = {
  created_at: Date;
  expires_at: Date;
  cancelled_at: Date | null;
};

/** A payment created less than this after a block may still be paid in it: block timestamps lag behind the time of the payment. */
export const LAG_ALLOWANCE_MS = 15_000;

const SECOND_MS = 1000;

/**
 * Finds the payment that a transfer pays by the time of its block, not by when we notice it, so that downtime changes nothing.
 * A payment window is [created_at, closed_at) and also ends where the next payment of the slot starts. When no window holds the
 * block, the transfer matches the first payment created less than 15 s after it.
 * @param slot payments of one slot, oldest first. The last one started by then and the first one created after are enough.
 * @returns null when the transfer matches none of them.
 */
export function matchPayment<P extends PaymentTimes>(slot: readonly P[], blockTime: Date): P | null {
  const time = blockTime.getTime();
  // The first whose window has not ended by then: its window holds the block, or begins after it.
  const match = slot.find((payment, position) => {
    const next = slot[position + 1];
    const end = Math.min(endOf(payment), next === undefined ? Infinity : startOf(next));
    return time < end && payment.created_at.getTime() - time < LAG_ALLOWANCE_MS;
  });
  return match ?? null;
}

/** Whether a transfer in this block could pay the payment, regardless of other payments in the slot. */
export const waitedAt = (payment: PaymentTimes, blockTime: Date): boolean =>
  matchPayment([payment], blockTime) !== null;

/** Whether an amount is near enough to what was asked to have been meant for it: from half to twice as much, in the same units. */
export const isCloseAmount = (units: bigint, asked: bigint): boolean => 2n * units >= asked && units <= 2n * asked;

/** The payment window regardless of other payments in the slot: from `start` up to but excluding `end`. */
export function paymentWindow(payment: PaymentTimes): { start: Date; end: Date } {
  return { start: new Date(startOf(payment)), end: new Date(endOf(payment)) };
}

/**
 * Why a transfer does not pay the payment it was probably meant for.
 * @param payment with its amount in base units of the token.
 * @param transfer with its amount in the same units.
 */
export function unmatchedReason(
  payment: PaymentTimes & { status: string; tokenUnits: bigint },
  transfer: { tokenUnits: bigint; blockTime: Date },
): UnmatchedReason {
  if (transfer.tokenUnits < payment.tokenUnits) return 'underpaid';
  if (transfer.tokenUnits > payment.tokenUnits) return 'overpaid';
  if (payment.status === 'PAID' || payment.status === 'CHECKING') return 'duplicate';
  const cancelled = payment.cancelled_at !== null && transfer.blockTime.getTime() >= floorSecond(payment.cancelled_at);
  return cancelled ? 'after_cancel' : 'late';
}

/**
 * Why a transfer that pays nothing does not pay this payment. The names are those of the public contract, which has none of its own
 * for money from before the payment's time: it is `late` as well.
 * @returns null when it may still pay this payment, and when the right amount is related to another payment.
 */
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
  const isRelated = transfer.related_payment_id !== null;
  // The right amount is another payment's business, or is yet to be decided about.
  if (expectedUnits === transferUnits && (isRelated || waitedAt(payment, transfer.block_timestamp))) return null;
  return unmatchedReason(
    { ...payment, tokenUnits: expectedUnits },
    { tokenUnits: transferUnits, blockTime: transfer.block_timestamp },
  );
}

/** The end of the second of this block: every payment created before it had started when the block was made. */
export function startOfNextSecond(blockTime: Date): Date {
  return new Date(floorSecond(blockTime) + SECOND_MS);
}

/**
 * Blocks carry whole seconds, so a payment owns the whole second in which it is created: money sent at once, in a block of the
 * same second, must not go to the payment that held the slot before.
 */
const startOf = (payment: PaymentTimes): number => floorSecond(payment.created_at);

/** The end is not part of the window. A transfer in the second of the cancellation counts as coming after it. */
function endOf(payment: PaymentTimes): number {
  const expires = payment.expires_at.getTime();
  return payment.cancelled_at === null ? expires : Math.min(expires, floorSecond(payment.cancelled_at));
}

const floorSecond = (date: Date): number => Math.floor(date.getTime() / SECOND_MS) * SECOND_MS;
