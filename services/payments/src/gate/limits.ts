import type { AccessPolicy, CreationBlockReason } from '@quittance/contracts/access.ts';
import type { OwnLimits } from '@quittance/contracts/http/payments/gate.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Usage } from './gate.sql.ts';

/**
 * The single rule for whether a merchant may create a payment: creation enforces it, the limits record reports it.
 * @param now the database's time, read while the counters cannot change, or for a record.
 * @returns the first reason against another payment, in the contract's order; null when another one is allowed.
 */
export function creationBlockReason(policy: AccessPolicy, usage: Usage, now: Date): CreationBlockReason | null {
  const { access_type: type, beta_expires_at: betaEnd, total_limit: total, daily_limit: daily } = policy;
  if (!policy.account_active) return 'account_inactive';
  if (policy.creation_paused) return 'creation_paused';
  if (type === 'beta' && betaEnd === null) return 'beta_not_activated';
  if (type === 'beta' && betaEnd !== null && now.getTime() >= Date.parse(betaEnd)) return 'beta_expired';
  if (usage.used_lifetime - usage.package_base >= total) return 'total_quota_exhausted';
  if (daily !== null && usedTodayOf(usage, now) >= daily) return 'daily_quota_exhausted';
  return null;
}

/**
 * The limits record, except `last_api_request_at`, which only the gateway knows. Source: the API contract, "Creation limits record".
 * @param now the database's time.
 */
export function limitsRecord(policy: AccessPolicy, usage: Usage, now: Date): OwnLimits {
  const reason = creationBlockReason(policy, usage, now);
  const usedInPackage = usage.used_lifetime - usage.package_base;
  const usedToday = usedTodayOf(usage, now);
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
    requests_used: usedInPackage,
    requests_left: remaining(policy.total_limit, usedInPackage),
    lifetime_requests_used: usage.used_lifetime,
    daily_limit: policy.daily_limit,
    daily_used: usedToday,
    daily_left: policy.daily_limit === null ? null : remaining(policy.daily_limit, usedToday),
    daily_reset_at: rfc3339(nextMidnight(now)),
    server_time: rfc3339(now),
  };
}

const usedTodayOf = (usage: Usage, now: Date): number => (usage.used_day === utcDay(now) ? usage.used_today : 0);

// A limit may be lowered below the current usage.
const remaining = (limit: number, used: number): number => Math.max(0, limit - used);

const utcDay = (date: Date): string => date.toISOString().slice(0, 10);

const nextMidnight = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
