import {
  type AccessPolicy,
  MAX_BETA_DAYS,
  standardBeta,
  type BetaConditions,
  type Limits,
} from '@quittance/contracts/access.ts';
import type { MerchantRegistered } from '@quittance/contracts/messages.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/** The result of a rule: a new version, no change, or a refusal with the reason for the operator. */
export type Decision =
  | { outcome: 'changed'; policy: AccessPolicy }
  | { outcome: 'unchanged' }
  | { outcome: 'refused'; detail: string };

/** A pure rule. It gets the locked policy and the database's time. */
export type Rule = (policy: AccessPolicy, now: Date) => Decision;

/** The first policy of a merchant. A beta waits for its activation; a legacy account may create payments immediately. */
export function register(merchant: MerchantRegistered, accountActive: boolean): AccessPolicy {
  const beta = merchant.access_type === 'beta';
  return {
    merchant_id: merchant.merchant_id,
    policy_version: 1,
    access_type: merchant.access_type,
    account_active: accountActive,
    creation_paused: false,
    beta_duration_days: beta ? (merchant.beta_duration_days ?? standardBeta.beta_duration_days) : null,
    beta_started_at: null,
    beta_expires_at: null,
    total_limit: merchant.total_limit,
    daily_limit: merchant.daily_limit,
    package_number: 1,
  };
}

/** Starts the beta now. An operator does this when the merchant has confirmed that the credentials arrived. */
export const activate = (): Rule => (policy, now) => {
  const days = policy.beta_duration_days;
  if (days === null) return refused('A legacy account has no beta to activate');
  if (policy.beta_started_at !== null) return refused(`The beta is already active since ${policy.beta_started_at}`);
  return changed(policy, { beta_started_at: rfc3339(now), beta_expires_at: daysAfter(now, days) });
};

/** Moves the end of an activated beta. Usage and limits do not change. An expired beta is active again if the new end is in the future. */
export const extend =
  (days: number): Rule =>
  (policy) => {
    if (policy.beta_duration_days === null) return refused('A legacy account has no beta to extend');
    if (policy.beta_started_at === null) return refused('The beta is not activated yet');
    const duration = policy.beta_duration_days + days;
    if (duration > MAX_BETA_DAYS)
      return refused(`A beta lasts at most ${MAX_BETA_DAYS} days; this would make ${duration}`);
    return changed(policy, {
      beta_duration_days: duration,
      beta_expires_at: daysAfter(new Date(policy.beta_started_at), duration),
    });
  };

export const setLimits =
  (limits: Limits): Rule =>
  (policy) =>
    changed(policy, limits);

export const setPaused =
  (paused: boolean): Rule =>
  (policy) =>
    changed(policy, { creation_paused: paused });

export const setAccountActive =
  (active: boolean): Rule =>
  (policy) =>
    changed(policy, { account_active: active });

/**
 * Turns a legacy account into a beta that waits for its activation, and starts a new package: payments counts total usage from there, while
 * lifetime usage and the day's count continue.
 */
export const moveToBeta =
  (conditions: BetaConditions): Rule =>
  (policy) => {
    if (policy.access_type === 'beta') return refused('The account already has a beta');
    return changed(policy, {
      access_type: 'beta',
      ...standardBeta,
      ...conditions,
      package_number: policy.package_number + 1,
    });
  };

/** A change without effect creates no version, so a pause can be repeated after a lost response. */
function changed(policy: AccessPolicy, changes: Partial<AccessPolicy>): Decision {
  const next: AccessPolicy = { ...policy, ...changes };
  const same = (Object.keys(next) as (keyof AccessPolicy)[]).every((field) => next[field] === policy[field]);
  if (same) return { outcome: 'unchanged' };
  return { outcome: 'changed', policy: { ...next, policy_version: policy.policy_version + 1 } };
}

const refused = (detail: string): Decision => ({ outcome: 'refused', detail });

// Days have 24 hours, as in UTC and in the database's check of the window.
const daysAfter = (start: Date, days: number): string => rfc3339(new Date(start.getTime() + days * 86_400_000));
