import { MAX_BETA_DAYS, type AccessPolicy } from '@quittance/contracts/access.ts';
import { describe, expect, test } from '@jest/globals';
import type { MerchantRegistered } from '@quittance/contracts/messages.ts';
import {
  activate,
  extend,
  moveToBeta,
  register,
  setAccountActive,
  setLimits,
  setPaused,
  type Decision,
  type Rule,
} from '../src/policy.ts';

const now = new Date('2026-01-31T12:00:00.000Z');

const registered = (over: Partial<MerchantRegistered> = {}): MerchantRegistered => ({
  merchant_id: `mer_${'0'.repeat(32)}`,
  name: 'Shop',
  access_type: 'beta',
  total_limit: 100,
  daily_limit: 10,
  beta_duration_days: 30,
  registered_at: now.toISOString(),
  ...over,
});
const beta = register(registered(), true);
const legacy = register(
  registered({ access_type: 'legacy', total_limit: 5000, daily_limit: null, beta_duration_days: null }),
  true,
);

const changed = (decision: Decision): AccessPolicy => {
  if (decision.outcome !== 'changed') throw new Error(`expected a change, got ${JSON.stringify(decision)}`);
  return decision.policy;
};
const active = changed(activate()(beta, now));

describe('registration', () => {
  test('a beta waits for its activation', () => {
    expect(beta).toMatchObject({
      policy_version: 1,
      beta_duration_days: 30,
      beta_started_at: null,
      beta_expires_at: null,
    });
  });

  test('a beta without its own duration lasts the standard 30 days', () => {
    expect(register(registered({ beta_duration_days: null }), true).beta_duration_days).toBe(30);
  });

  test('a legacy account keeps its total limit, and has no end and no daily limit', () => {
    expect(legacy).toMatchObject({
      access_type: 'legacy',
      total_limit: 5000,
      daily_limit: null,
      beta_duration_days: null,
    });
  });

  test('an account blocked before its registration was received starts inactive', () => {
    expect(register(registered(), false).account_active).toBe(false);
  });
});

describe('beta window', () => {
  test('activation starts the beta now, for the agreed number of days of 24 hours', () => {
    expect(active).toMatchObject({
      policy_version: 2,
      beta_started_at: '2026-01-31T12:00:00.000Z',
      beta_expires_at: '2026-03-02T12:00:00.000Z',
    });
  });

  test('extending moves the end, and does not change limits and package', () => {
    expect(changed(extend(10)(active, now))).toEqual({
      ...active,
      policy_version: 3,
      beta_duration_days: 40,
      beta_expires_at: '2026-03-12T12:00:00.000Z',
    });
  });

  test('a beta can be extended to the maximum duration', () => {
    const days = MAX_BETA_DAYS - 30;
    expect(changed(extend(days)(active, now))).toMatchObject({ beta_duration_days: MAX_BETA_DAYS });
  });

  test.each<[string, Rule, AccessPolicy, RegExp]>([
    ['activating twice', activate(), active, /already active/],
    ['activating a legacy account', activate(), legacy, /legacy/],
    ['extending a beta that is not activated', extend(1), beta, /not activated/],
    ['extending a legacy account', extend(1), legacy, /legacy/],
    ['extending beyond the longest beta', extend(MAX_BETA_DAYS), active, /at most/],
    ['moving a beta to beta', moveToBeta({}), active, /already/],
  ])('%s is refused with a reason', (_name, rule, policy, reason) => {
    expect(rule(policy, now)).toEqual({ outcome: 'refused', detail: expect.stringMatching(reason) });
  });
});

test('moving a legacy account to beta starts a new package with standard conditions, not activated yet', () => {
  expect(changed(moveToBeta({})(legacy, now))).toMatchObject({
    access_type: 'beta',
    package_number: 2,
    total_limit: 100,
    daily_limit: 10,
    beta_duration_days: 30,
    beta_started_at: null,
  });
  expect(changed(moveToBeta({ total_limit: 7, daily_limit: null })(legacy, now))).toMatchObject({
    total_limit: 7,
    daily_limit: null,
  });
});

test('each limit can be set alone, and the daily limit removed', () => {
  expect(changed(setLimits({ total_limit: 5 })(beta, now))).toMatchObject({ total_limit: 5, daily_limit: 10 });
  expect(changed(setLimits({ daily_limit: null })(beta, now))).toMatchObject({ total_limit: 100, daily_limit: null });
});

test('a change without effect creates no version', () => {
  const paused = changed(setPaused(true)(beta, now));
  expect(setPaused(true)(paused, now)).toEqual({ outcome: 'unchanged' });
  expect(setAccountActive(true)(beta, now)).toEqual({ outcome: 'unchanged' });
  expect(setLimits({ total_limit: 100 })(beta, now)).toEqual({ outcome: 'unchanged' });
});

test('pausing and blocking only change their own flag', () => {
  expect(changed(setPaused(true)(active, now))).toEqual({ ...active, policy_version: 3, creation_paused: true });
  expect(changed(setAccountActive(false)(active, now))).toEqual({
    ...active,
    policy_version: 3,
    account_active: false,
  });
});
