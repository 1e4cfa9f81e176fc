import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { lateReason } from './candidates.ts';
import {
  type Arrival,
  beginOf,
  type Claimant,
  endOf,
  inOrder,
  intervalOf,
  isOneOrder,
  wasKnownBefore,
} from './whose-money.ts';

/* Addresses that one payment has for itself: the contract's rules, written a second time. Times are milliseconds since 1970. */

/** `rest`: how long the address rests after the payment's end; null for a payment that shares its address. */
export type Tenant = Claimant & { rest: number | null; paidAt: number | null; releasedAt: number | null };

/** What money on such an address is: a part of what this payment asks for; or money that pays nothing. */
export type OwnVerdict<P> = { counts: P } | { among: P[]; reason: UnmatchedReason | null };

export const isUnfinished = ({ status }: Claimant): boolean => status === 'PENDING' || status === 'CHECKING';

/** Whether some moment of the transfer's interval is in this span; the end is not part of it. */
function isBetween(arrival: Arrival, begin: number, end: number): boolean {
  const { from, to } = intervalOf(arrival);
  const first = Math.max(from, begin);
  return first <= to && first < end;
}

/** Whether the money came while the payment waited. */
const cameInTime = (payment: Claimant, arrival: Arrival): boolean =>
  isBetween(arrival, beginOf(payment), endOf(payment));

/** Until when money on the address is this payment's. One that is paid while its address rests makes it rest again. */
function keepsUntil(payment: Tenant): number {
  const rest = payment.rest ?? 0;
  const over = endOf(payment) + rest;
  return payment.paidAt !== null && payment.paidAt < over ? payment.paidAt + rest : over;
}

/** The payments that had the address for themselves when the money came, newest first. An early end of a rest takes nothing from them. */
export const tenantsOf = <P extends Tenant>(wallet: readonly P[], arrival: Arrival): P[] =>
  wallet
    .filter(
      (payment) =>
        payment.rest !== null &&
        isBetween(arrival, beginOf(payment), keepsUntil(payment)) &&
        !wasKnownBefore(payment, arrival),
    )
    .sort(inOrder)
    .reverse();

/**
 * @param tenants see tenantsOf(); at least one. @param claimants those that share the address by then and that its rules give the money to.
 * @param carriesAmount whether it is exactly what a payment asks for.
 * @returns null when it belongs to a payment that shares the address.
 */
export function whoseOwnMoney<P extends Tenant>(
  tenants: readonly P[],
  claimants: readonly P[],
  arrival: Arrival,
  carriesAmount: (payment: P) => boolean,
): OwnVerdict<P> | null {
  // Only when a merchant ended the rest early, others may have used the address.
  const others = tenants.some(({ releasedAt }) => releasedAt !== null) ? claimants : [];
  const possible = [...others, ...tenants].sort(inOrder).reverse();
  if (possible.length > 1 && !isOneOrder(possible)) return { among: possible, reason: 'ambiguous' };
  const owner = possible.find(isUnfinished) ?? possible[0]!;
  if (owner.rest === null) return null;
  if (owner.status === 'PAID') return { among: [owner], reason: carriesAmount(owner) ? 'duplicate' : 'overpaid' };
  if (cameInTime(owner, arrival)) return { counts: owner };
  // It has no reason before the payment has ended.
  if (isUnfinished(owner)) return { among: [owner], reason: null };
  return { among: [owner], reason: lateReason(owner, intervalOf(arrival).from) };
}

/** When a payment ended, on our clock. */
const endedAt = ({ paidAt, cancelledAt, expiresAt }: Tenant): number => paidAt ?? cancelledAt ?? expiresAt;

/** From when on its address may be for others. */
export const restsUntil = (payment: Tenant): number =>
  isUnfinished(payment) ? Infinity : (payment.releasedAt ?? endedAt(payment) + (payment.rest ?? 0));

/** Until when no other payment may be created on an address, because one has, or had it for itself. */
export const heldUntil = (wallet: readonly Tenant[]): number => {
  const newest = wallet
    .filter(({ rest }) => rest !== null)
    .sort(inOrder)
    .at(-1);
  return newest === undefined ? -Infinity : restsUntil(newest);
};

/** Until when payments that share an address keep it from one that wants it for itself. @param after their end. */
export const sharedUntil = (wallet: readonly Tenant[], after: number): number =>
  Math.max(
    -Infinity,
    ...wallet
      .filter(({ rest }) => rest === null)
      .map((payment) => (isUnfinished(payment) ? Infinity : endedAt(payment) + after)),
  );

/** What parts of a payment come to. `chain`: their places, in the order of the chain. */
export type Part = { units: bigint; isConfirmed: boolean };

/**
 * Adds up parts in the order of the chain.
 * @returns the part with which the confirmed ones, and all that were seen, reach what is enough.
 */
export function addUp<P extends Part>(
  parts: readonly P[],
  { asked, percent }: { asked: bigint; percent: number | null },
): { confirmed: P | null; seen: P | null } {
  const reach = (some: readonly P[]): P | null => {
    const sums = some.map((_, place) => some.slice(0, place + 1).reduce((sum, { units }) => sum + units, 0n));
    const place = sums.findIndex((sum) => sum * 100n >= asked * BigInt(percent ?? 100));
    return some[place] ?? null;
  };
  return { confirmed: reach(parts.filter(({ isConfirmed }) => isConfirmed)), seen: reach(parts) };
}

/** An address of a pool's list, and all payments that were ever created on it. */
export type Listed = {
  address: string;
  payments: readonly Tenant[];
  /** Another merchant owns it. */
  isForeign: boolean;
  /** Other merchants' pools have it too, or their payments are there. */
  isContested: boolean;
};

/** Addresses that a pool may give now, in its order. @param rest of the pool. */
export const givable = (list: readonly Listed[], now: number, rest: number): Listed[] =>
  list.filter(
    ({ payments, isForeign }) => !isForeign && heldUntil(payments) <= now && sharedUntil(payments, rest) <= now,
  );

/**
 * The longest unused address that was never used but by this pool's payments. When others were there, the pool may notice a little later
 * that it is free, and then gives another one.
 */
export function longestUnused(free: readonly Listed[]): Listed | undefined {
  const unusedSince = ({ payments }: Listed): number => heldUntil(payments);
  const plain = free.filter((listed) => {
    const isOwn = (payment: Tenant): boolean => payment.rest !== null && restsUntil(payment) <= unusedSince(listed);
    return !listed.isContested && listed.payments.every(isOwn);
  });
  const first = Math.min(...plain.map(unusedSince));
  return plain.find((listed) => unusedSince(listed) === first);
}
