import type { AccessPolicy, CreationBlockReason } from '@quittance/contracts/access.ts';

/*
 * The contract's rules about access, written a second time. Nothing here comes from the service's own code, or a mistake there would be a
 * mistake here. Those about money are in whose-money.ts and candidates.ts. Times are milliseconds since 1970.
 */

export const DAY = 86_400_000;
/** How long a reply is repeated. */
export const REPLY_KEPT = 30 * DAY;

export const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

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
