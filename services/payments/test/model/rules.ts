import type { AccessPolicy, CreationBlockReason } from '@quittance/contracts/access.ts';
import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/payment.ts';

/*
 * The rules as the contract words them, written a second time: nothing here comes from the service's own code, or a mistake there
 * would be a mistake here. Times are milliseconds since 1970.
 */

/** What the rules need of a payment. */
type Timed = { status: PaymentStatus; createdAt: number; expiresAt: number; cancelledAt: number | null };

const SECOND = 1000;
export const DAY = 86_400_000;
/** Block timestamps lag: a payment created less than this after a block may still be paid in it. */
export const LAG = 15 * SECOND;
/** How long a reply is repeated. */
export const REPLY_KEPT = 30 * DAY;

export const floorSecond = (moment: number): number => moment - (moment % SECOND);
export const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

/** The window of a payment by itself: from the second of its creation until it expired, or the second of its cancellation. */
export function windowOf(payment: Timed): { from: number; to: number } {
  const { createdAt, expiresAt, cancelledAt } = payment;
  return {
    from: floorSecond(createdAt),
    to: cancelledAt === null ? expiresAt : Math.min(expiresAt, floorSecond(cancelledAt)),
  };
}

/**
 * Whose money a transfer is, by the time of its block.
 * @param slot every payment that one slot ever had, oldest first.
 */
export function ownerOf<P extends Timed>(slot: readonly P[], blockTime: number): P | null {
  for (const [position, payment] of slot.entries()) {
    const { from, to } = windowOf(payment);
    const newer = slot.slice(position + 1).some((other) => windowOf(other).from <= blockTime);
    if (from <= blockTime && blockTime < to && !newer) return payment;
  }
  return slot.find(({ createdAt }) => floorSecond(createdAt) > blockTime && createdAt - blockTime < LAG) ?? null;
}

/** Why money of the exact amount does not pay this payment. */
export function exactReason(payment: Timed, blockTime: number): UnmatchedReason {
  if (payment.status === 'PAID' || payment.status === 'CHECKING') return 'duplicate';
  if (payment.cancelledAt !== null && blockTime >= floorSecond(payment.cancelledAt)) return 'after_cancel';
  return 'late';
}

export type Usage = { inPackage: number; today: number };

/** The last 40 bits of an id in base 32, without the letters I, L, O and U. */
export const referenceOf = (paymentId: string): string =>
  Array.from(Number.parseInt(paymentId.slice(-10), 16).toString(32).padStart(8, '0'), (digit) =>
    '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.charAt(Number.parseInt(digit, 32)),
  ).join('');

/** Why a creation is refused, the first in the contract's order of precedence. */
export function accessRefusal(policy: AccessPolicy, used: Usage, now: number): CreationBlockReason | null {
  const beta = policy.access_type === 'beta';
  const ends = policy.beta_expires_at === null ? null : Date.parse(policy.beta_expires_at);
  const reasons: [boolean, CreationBlockReason][] = [
    [!policy.account_active, 'account_inactive'],
    [policy.creation_paused, 'creation_paused'],
    [beta && ends === null, 'beta_not_activated'],
    [beta && ends !== null && now >= ends, 'beta_expired'],
    [used.inPackage >= policy.total_limit, 'total_quota_exhausted'],
    [policy.daily_limit !== null && used.today >= policy.daily_limit, 'daily_quota_exhausted'],
  ];
  return reasons.find(([applies]) => applies)?.[1] ?? null;
}
