import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';

/** The times that decide when a payment starts waiting for money and when it stops. */
export type PaymentTimes = {
  created_at: Date;
  expires_at: Date;
  cancelled_at: Date | null;
};

/** What is known about the time of a transfer. */
export type Sighting = {
  block_timestamp: Date;
  /** When chain-watcher first read any block with it; null when that is not known. */
  first_seen_at: Date | null;
  /** Whether chain-watcher was reading the network without a gap then, so that the transfer cannot have been there long before. */
  live: boolean;
};

/** Milliseconds since 1970. Both ends are included. */
export type Interval = { from: number; to: number };

/** How far block timestamps may lag behind the transfer when nothing more precise is known. */
export const UNSEEN_LAG_MS = 15_000;

const SECOND_MS = 1000;

/** Observed lags of chains' clocks are below this. A search for a payment's transfers by time is widened by this much. */
export const CLOCK_REACH_MS = 150_000;

/**
 * When a transfer was made: between the time of its block and the moment we first saw it. When the chain's clock is ahead of ours, the two
 * are swapped.
 */
export function intervalOf({ block_timestamp: block, first_seen_at: seen, live }: Sighting): Interval {
  const from = block.getTime();
  const to = live && seen !== null ? seen.getTime() : from + UNSEEN_LAG_MS;
  return to < from ? { from: to, to: from } : { from, to };
}

/** Whether we knew this transfer before the payment existed: then the money cannot be for it. */
export const wasKnownBefore = (payment: Pick<PaymentTimes, 'created_at'>, { first_seen_at: seen }: Sighting): boolean =>
  seen !== null && seen < payment.created_at;

/** The payment window in milliseconds, ignoring other payments of the slot: from `start` up to but excluding `end`. */
export const windowOf = (payment: PaymentTimes): { start: number; end: number } => ({
  start: startOf(payment),
  end: endOf(payment),
});

export const meets = ({ from, to }: Interval, { start, end }: { start: number; end: number }): boolean =>
  start < end && start <= to && from < end;

/** Whether the start of a transfer's interval is in the payment's window, ignoring other payments of the slot. */
export const isInsideWindow = (payment: PaymentTimes, transfer: Sighting): boolean => {
  const { from } = intervalOf(transfer);
  return meets({ from, to: from }, windowOf(payment));
};

/** How long after its payment's end a unique amount is not given out again; money that comes until then may be for it. */
export const REST_MS = 24 * 60 * 60 * SECOND_MS;

/** Whether a transfer came while the payment was waiting, or during the rest time after its end. */
export const waitedOrRested = (payment: PaymentTimes, transfer: Sighting): boolean => {
  const { start, end } = windowOf(payment);
  return !wasKnownBefore(payment, transfer) && meets(intervalOf(transfer), { start, end: end + REST_MS });
};

/** Whether an amount is near enough to the requested one to have been meant for it: from half to twice as much, in the same units. */
export const isCloseAmount = (units: bigint, asked: bigint): boolean => 2n * units >= asked && units <= 2n * asked;

/** Less than one such part of the requested amount is dust, which anyone can send at next to no cost. */
const DUST_PART = 100n;

export const isDust = (units: bigint, asked: bigint): boolean => units * DUST_PART < asked;

/**
 * Why a transfer does not pay the payment it may be meant for.
 * @param payment with its amount in base units of the token.
 * @param transfer with its amount in the same units.
 */
export function unmatchedReason(
  payment: PaymentTimes & { status: string; tokenUnits: bigint },
  transfer: Sighting & { tokenUnits: bigint },
): UnmatchedReason {
  if (transfer.tokenUnits < payment.tokenUnits) return 'underpaid';
  if (transfer.tokenUnits > payment.tokenUnits) return 'overpaid';
  if (payment.status === 'PAID' || payment.status === 'CHECKING') return 'duplicate';
  return cameAfterCancel(payment, intervalOf(transfer).from) ? 'after_cancel' : 'late';
}

/**
 * The ledger's reason, in which a transfer may be for several payments, converted for one of them.
 * @returns null when it may still pay the payment.
 */
export function reasonShown<R extends string>(
  payment: Pick<PaymentTimes, 'cancelled_at'> & { amount_units: bigint; rest_seconds: number | null },
  transfer: Sighting & { amount_units: string; decimals: number; reason: R | null },
): R | UnmatchedReason | null {
  // On an address of its own, the sum decides about each transfer.
  if (payment.rest_seconds !== null) return transfer.reason;
  const difference = BigInt(transfer.amount_units) - toTokenUnits(payment.amount_units, transfer.decimals);
  if (difference !== 0n) return difference < 0n ? 'underpaid' : 'overpaid';
  if (transfer.reason !== 'late' && transfer.reason !== 'after_cancel') return transfer.reason;
  return cameAfterCancel(payment, intervalOf(transfer).from) ? 'after_cancel' : 'late';
}

export const cameAfterCancel = (
  { cancelled_at: cancelled }: Pick<PaymentTimes, 'cancelled_at'>,
  from: number,
): boolean => cancelled !== null && from >= floorSecond(cancelled);

/**
 * Blocks have whole seconds, so a payment owns the whole second in which it is created: money sent immediately, in a block of the same
 * second, must not go to the payment that held the slot before.
 */
export const startOf = (payment: Pick<PaymentTimes, 'created_at'>): number => floorSecond(payment.created_at);

/** The end is not part of the window. A transfer in the second of the cancellation counts as later than it. */
function endOf(payment: PaymentTimes): number {
  const expires = payment.expires_at.getTime();
  return payment.cancelled_at === null ? expires : Math.min(expires, floorSecond(payment.cancelled_at));
}

/** The end of a moment's second: every payment created before the moment has started by then. */
export const startOfNextSecond = (time: number): Date => new Date(floorSecond(new Date(time)) + SECOND_MS);

const floorSecond = (date: Date): number => Math.floor(date.getTime() / SECOND_MS) * SECOND_MS;
