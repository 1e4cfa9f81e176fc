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
 * The limits record, save `last_api_request_at`, which only the gateway knows. Source: the API contract, "Creation limits record".
 * @param reason why creation would refuse at this moment, or null.
 * @param now the database's clock, by which `reason` was decided.
 */
export function creationLimits(
  policy: AccessPolicy,
  usage: Usage,
  { reason, now }: { reason: CreationBlockReason | null; now: Date },
): Omit<CreationLimits, 'last_api_request_at'> {
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
