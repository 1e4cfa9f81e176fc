import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';

/*
 * Which payment a transfer of the exact amount belongs to, in the contract's words: as statements about all payments that one slot ever
 * had. Slow, and deliberately unlike the service. Times are milliseconds since 1970.
 */

const SECOND = 1000;
const HOUR = 3_600_000;
/** What is added to a block's time when its arrival was not observed. */
const UNWATCHED = 15 * SECOND;
/** No customer pays this soon after ordering; a late payer of the order before does. */
const TOO_SOON = 5 * SECOND;

/** What the rules need of a payment. */
export type Claimant = {
  id: string;
  merchant: string;
  orderId: string | null;
  status: PaymentStatus;
  createdAt: number;
  expiresAt: number;
  cancelledAt: number | null;
};

/** What is known about the time of a transfer. `firstSeen`: when a block with it was first read; null when that is not known. */
export type Arrival = { blockTime: number; firstSeen: number | null; live: boolean };

/** The money came between these two moments, both included. */
type Interval = { from: number; to: number };

export type Verdict<P> =
  /** It is this payment's money. `inside`: its beginning is in the payment's window, and not only its end. */
  | { pays: P; inside: boolean; by: string }
  /** The newest first. */
  | { among: P[]; by: string }
  /** No payment claims it. */
  | { nobody: true };

export const floorSecond = (moment: number): number => moment - (moment % SECOND);

export function intervalOf({ blockTime, firstSeen, live }: Arrival): Interval {
  const other = live && firstSeen !== null ? firstSeen : blockTime + UNWATCHED;
  return { from: Math.min(blockTime, other), to: Math.max(blockTime, other) };
}

/** Whether this one comes before the other in the order of a slot. */
const isBefore = (one: Claimant, other: Claimant): boolean =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);

/** The order of a slot, oldest first. */
export const inOrder = (one: Claimant, other: Claimant): number => (isBefore(one, other) ? -1 : 1);

export const beginOf = ({ createdAt }: Claimant): number => floorSecond(createdAt);

/** When a payment ended by itself, for comparison with the time of a block. */
export const endOf = ({ expiresAt, cancelledAt }: Claimant): number =>
  cancelledAt === null ? expiresAt : Math.min(expiresAt, floorSecond(cancelledAt));

/** The same for comparison with our own clock. */
const endOnOurClock = ({ expiresAt, cancelledAt }: Claimant): number => Math.min(expiresAt, cancelledAt ?? expiresAt);

/** Whether the payment's window holds this moment: it had begun, it had not ended, and no later payment of the slot had begun. */
export const isInWindow = (slot: readonly Claimant[], payment: Claimant, moment: number): boolean =>
  beginOf(payment) <= moment &&
  moment < endOf(payment) &&
  slot.every((other) => !isBefore(payment, other) || moment < beginOf(other));

/** Money that was known before the order cannot be for it. */
export const wasKnownBefore = ({ createdAt }: Claimant, { firstSeen }: Arrival): boolean =>
  firstSeen !== null && firstSeen < createdAt;

/** Whether some moment is in the window and in the interval; if so, the first such moment is the later of the two beginnings. */
function doesClaim(slot: readonly Claimant[], payment: Claimant, arrival: Arrival): boolean {
  const { from, to } = intervalOf(arrival);
  const first = Math.max(from, beginOf(payment));
  return first <= to && isInWindow(slot, payment, first) && !wasKnownBefore(payment, arrival);
}

const newestOf = <P extends Claimant>(payments: readonly P[]): P | undefined =>
  payments.find((payment) => payments.every((other) => other === payment || isBefore(other, payment)));

export const hasEndedUnpaid = ({ status }: Claimant): boolean => status === 'EXPIRED' || status === 'CANCELLED';
const isWaiting = ({ status }: Claimant): boolean => status === 'PENDING' || status === 'CHECKING';

/** Rule 1: the customer of the payment before is late, and it is not this payment's customer. */
function latePayers<P extends Claimant>(slot: readonly P[], claimant: P, { from }: Interval): P[] | null {
  const before = newestOf(slot.filter((other) => isBefore(other, claimant)));
  if (before === undefined || !hasEndedUnpaid(before)) return null;
  const sinceEnd = claimant.createdAt - endOnOurClock(before);
  // Its window ended at the latest when the claimant's began.
  const end = Math.min(endOf(before), beginOf(claimant));
  const isLate = sinceEnd <= HOUR && end <= from && from < beginOf(claimant) + TOO_SOON;
  return isLate ? [before, claimant] : null;
}

/** Rule 3: the other payments of the slot that were open, or ended, within the hour before this one was created. */
const wereThereBefore = <P extends Claimant>(slot: readonly P[], payment: P): P[] =>
  slot.filter((other) => {
    if (!isBefore(other, payment)) return false;
    const followers = slot.filter((follower) => isBefore(other, follower));
    const end = Math.min(endOnOurClock(other), ...followers.map(({ createdAt }) => createdAt));
    return payment.createdAt - end <= HOUR;
  });

/** All are one merchant's, for the same order. */
export const isOneOrder = ([one, ...others]: readonly Claimant[]): boolean =>
  one !== undefined &&
  one.orderId !== null &&
  others.every(({ merchant, orderId }) => merchant === one.merchant && orderId === one.orderId);

/** Rule 7: one customer's money, in two payments of one order. */
function amongCandidates<P extends Claimant>(
  slot: readonly P[],
  among: P[],
  { from }: Interval,
  by: string,
): Verdict<P> {
  const pays = isOneOrder(among) ? (newestOf(among.filter(isWaiting)) ?? newestOf(among)) : undefined;
  if (pays === undefined) return { among: [...among].sort(inOrder).reverse(), by: `${by}, ambiguous` };
  return { pays, inside: isInWindow(slot, pays, from), by: `${by}, rule 7` };
}

/** @param slot every payment that one slot ever had. */
export function whoseMoney<P extends Claimant>(slot: readonly P[], arrival: Arrival): Verdict<P> {
  const interval = intervalOf(arrival);
  const claimants = slot.filter((payment) => doesClaim(slot, payment, arrival));
  const holders = claimants.filter((payment) => isInWindow(slot, payment, interval.from));
  const newest = newestOf(claimants);
  if (newest === undefined) return { nobody: true };

  const late = latePayers(slot, newest, interval);
  if (late !== null) return amongCandidates(slot, late, interval, 'rule 1');

  if (claimants.length > 1) {
    const isShort = interval.to - interval.from <= UNWATCHED;
    const [holder] = holders;
    if (isShort && holder !== undefined) return { pays: holder, inside: true, by: 'rule 4' };
    return amongCandidates(slot, claimants, interval, 'rule 5');
  }
  if (holders.length === 1) return { pays: newest, inside: true, by: 'rule 2' };
  const others = wereThereBefore(slot, newest);
  if (others.length === 0) return { pays: newest, inside: false, by: 'rule 3' };
  return amongCandidates(slot, [...others, newest], interval, 'rule 3');
}

/** When one payment was paid, the earlier ones of its slot that ended unpaid within the hour before the money came. */
export const paidAnother = <P extends Claimant>(slot: readonly P[], paid: P, arrival: Arrival): P[] =>
  slot.filter((earlier) => {
    const since = intervalOf(arrival).from - endOf(earlier);
    return isBefore(earlier, paid) && hasEndedUnpaid(earlier) && since >= 0 && since <= HOUR;
  });
