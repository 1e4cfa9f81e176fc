import type { UnmatchedReason } from '@quittance/contracts/payment.ts';

/** What decides about time: when a payment began to wait and when it stopped. */
export type Waiting = {
  created_at: Date;
  expires_at: Date;
  cancelled_at: Date | null;
};

/** A payment created less than this after a block may still be paid in it: block timestamps lag behind the moment of payment. */
export const LAG_ALLOWANCE_MS = 15_000;

const SECOND_MS = 1000;

/**
 * Finds the payment to which a transfer belongs, by the time of its block: not by when we noticed it, so that downtime changes nothing.
 * A window is [created_at, closed_at) and also ends where the next payment of the slot begins. When no window holds the block,
 * the first payment created less than 15 s after it takes it.
 * @param slot payments of one slot, oldest first. It is enough to give the last one begun by then and the first one created after.
 * @returns null when the transfer came for none of them.
 */
export function holderOf<P extends Waiting>(slot: readonly P[], blockTime: Date): P | null {
  const time = blockTime.getTime();
  const windows = slot.map((payment, position) => {
    const next = slot[position + 1];
    const ends = Math.min(endOf(payment), next === undefined ? Infinity : beginOf(next));
    return { payment, begins: beginOf(payment), ends };
  });
  const holder =
    windows.find(({ begins, ends }) => begins <= time && time < ends) ??
    windows.find(
      ({ begins, ends, payment }) => time < begins && time < ends && laterBy(payment, time) < LAG_ALLOWANCE_MS,
    );
  return holder?.payment ?? null;
}

/** The time in which a payment waited, whatever else its slot held: from `begins` up to, and without, `ends`. */
export function windowOf(payment: Waiting): { begins: Date; ends: Date } {
  return { begins: new Date(beginOf(payment)), ends: new Date(endOf(payment)) };
}

/**
 * Why a transfer does not pay a payment it was probably meant for.
 * @param payment with its amount in base units of the token.
 * @param transfer with its amount in the same units.
 */
export function unmatchedReason(
  payment: Waiting & { status: string; tokenUnits: bigint },
  transfer: { tokenUnits: bigint; blockTime: Date },
): UnmatchedReason {
  if (transfer.tokenUnits < payment.tokenUnits) return 'underpaid';
  if (transfer.tokenUnits > payment.tokenUnits) return 'overpaid';
  if (payment.status === 'PAID' || payment.status === 'CHECKING') return 'duplicate';
  const cancelled = payment.cancelled_at !== null && transfer.blockTime.getTime() >= floorSecond(payment.cancelled_at);
  return cancelled ? 'after_cancel' : 'late';
}

/** The first moment after the second of this block: a payment created before it had begun when the block was made. */
export function secondAfter(blockTime: Date): Date {
  return new Date(floorSecond(blockTime) + SECOND_MS);
}

/**
 * Blocks carry whole seconds, so the second in which a payment is created is its own: a payment made at once, in a block of the
 * same second, must not fall to the payment that held the slot before.
 */
const beginOf = (payment: Waiting): number => floorSecond(payment.created_at);

/** The end is no part of the window. A transfer of the very second of the cancellation counts as coming after it. */
function endOf(payment: Waiting): number {
  const expires = payment.expires_at.getTime();
  return payment.cancelled_at === null ? expires : Math.min(expires, floorSecond(payment.cancelled_at));
}

const laterBy = (payment: Waiting, time: number): number => payment.created_at.getTime() - time;

const floorSecond = (date: Date): number => Math.floor(date.getTime() / SECOND_MS) * SECOND_MS;
