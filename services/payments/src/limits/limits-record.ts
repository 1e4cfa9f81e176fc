import type { AccessPolicy, CreationBlockReason } from '@quittance/contracts/access.ts';
import type { OwnLimits } from '@quittance/contracts/http/payments/limits.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Usage } from '../store/gate.ts';

/**
 * The limits record, except `last_api_request_at`, which only the gateway knows. Source: the API contract, "Creation limits record".
 * @param reason why creation would refuse now, or null.
 * @param now the database's time, for which `reason` was decided.
 */
export function limitsRecord(
  policy: AccessPolicy,
  usage: Usage,
  { reason, now }: { reason: CreationBlockReason | null; now: Date },
): OwnLimits {
  const usedInPackage = usage.used_lifetime - usage.package_base;
  const usedToday = usage.used_day === utcDay(now) ? usage.used_today : 0;
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

// A limit may be lowered below what is used already.
const remaining = (limit: number, used: number): number => Math.max(0, limit - used);

const utcDay = (date: Date): string => date.toISOString().slice(0, 10);

const nextMidnight = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
