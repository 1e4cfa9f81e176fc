import type { AccessPolicy, CreationBlockReason, CreationLimits } from '@quittance/contracts/access.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/** What a merchant has created so far. */
export type Usage = {
  /** All payments ever. */
  usedLifetime: number;
  /** `usedLifetime` at the moment the current package began. */
  packageBase: number;
  /** The UTC day that `usedToday` counts, `2026-01-31`, or null before the first payment. */
  usedDay: string | null;
  usedToday: number;
};

/**
 * Why the next payment may not be created, or null when it may. The one rule that creation enforces and `limits` reports.
 * The first reason in the contract's order counts.
 * @param now the database's clock, read while the counters could not change.
 */
export function creationBlockReason(policy: AccessPolicy, usage: Usage, now: Date): CreationBlockReason | null {
  if (!policy.account_active) return 'account_inactive';
  if (policy.creation_paused) return 'creation_paused';
  if (policy.access_type === 'beta') {
    if (policy.beta_expires_at === null) return 'beta_not_activated';
    if (now >= new Date(policy.beta_expires_at)) return 'beta_expired';
  }
  if (usedInPackage(usage) >= policy.total_limit) return 'total_quota_exhausted';
  if (policy.daily_limit !== null && usedOn(usage, now) >= policy.daily_limit) return 'daily_quota_exhausted';
  return null;
}

/** The limits record, save `last_api_request_at`, which only the gateway knows. Source: the API contract, "Creation limits record". */
export function creationLimits(
  policy: AccessPolicy,
  usage: Usage,
  now: Date,
): Omit<CreationLimits, 'last_api_request_at'> {
  const reason = creationBlockReason(policy, usage, now);
  const dailyUsed = usedOn(usage, now);
  return {
    merchant_id: policy.merchant_id,
    access_type: policy.access_type,
    status: policy.account_active ? 'active' : 'blocked',
    creation_enabled: !policy.creation_paused,
    creation_allowed: reason === null,
    creation_block_reason: reason,
    beta_duration_days: policy.beta_duration_days,
    beta_started_at: policy.beta_started_at,
    beta_expires_at: policy.beta_expires_at,
    total_limit: policy.total_limit,
    requests_used: usedInPackage(usage),
    requests_left: left(policy.total_limit, usedInPackage(usage)),
    lifetime_requests_used: usage.usedLifetime,
    daily_limit: policy.daily_limit,
    daily_used: dailyUsed,
    daily_left: policy.daily_limit === null ? null : left(policy.daily_limit, dailyUsed),
    daily_reset_at: rfc3339(nextMidnight(now)),
    server_time: rfc3339(now),
  };
}

const usedInPackage = (usage: Usage): number => usage.usedLifetime - usage.packageBase;

const usedOn = (usage: Usage, now: Date): number => (usage.usedDay === utcDay(now) ? usage.usedToday : 0);

// A limit may be lowered below what is used already.
const left = (limit: number, used: number): number => Math.max(0, limit - used);

const utcDay = (date: Date): string => date.toISOString().slice(0, 10);

const nextMidnight = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
