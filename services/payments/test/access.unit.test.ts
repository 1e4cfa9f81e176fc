import { describe, expect, test } from '@jest/globals';
import { type AccessPolicy, creationBlockReasons } from '@quittance/contracts/access.ts';
import fc from 'fast-check';
import { creationBlockReason, limitsRecord } from '../src/gate/limits.ts';
import type { Usage } from '../src/gate/gate.sql.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const days = (count: number): string => new Date(now.getTime() + count * 86_400_000).toISOString();

const beta: AccessPolicy = {
  merchant_id: 'mer_00000000000000000000000000000001',
  policy_version: 3,
  access_type: 'beta',
  account_active: true,
  creation_paused: false,
  beta_duration_days: 30,
  beta_started_at: days(-10),
  beta_expires_at: days(20),
  total_limit: 100,
  daily_limit: 10,
  package_number: 1,
};
const legacy: AccessPolicy = {
  ...beta,
  access_type: 'legacy',
  beta_duration_days: null,
  beta_started_at: null,
  beta_expires_at: null,
  total_limit: 5000,
  daily_limit: null,
};
const unused: Usage = { used_lifetime: 0, package_base: 0, used_day: null, used_today: 0 };

describe('why a creation is blocked', () => {
  test('is nothing for an active beta with quota left', () => {
    expect(creationBlockReason(beta, unused, now)).toBeNull();
  });

  test('is the first reason in the order of the contract', () => {
    // Each step removes the reason found last; the later ones have applied all the time.
    const spent: Usage = { used_lifetime: 100, package_base: 0, used_day: '2026-03-01', used_today: 10 };
    const steps: Partial<AccessPolicy>[] = [
      { account_active: false, creation_paused: true, beta_started_at: null, beta_expires_at: null },
      { creation_paused: true, beta_started_at: null, beta_expires_at: null },
      { beta_started_at: null, beta_expires_at: null },
      { beta_expires_at: now.toISOString() },
      {},
      { total_limit: 101 },
    ];
    const reasons = steps.map((step) => creationBlockReason({ ...beta, ...step }, spent, now));
    expect(reasons).toEqual([...creationBlockReasons]);
  });

  test('is the quota after the last payment of the total or of the day, not before', () => {
    const used = (total: number, today: number): Usage => ({
      used_lifetime: total,
      package_base: 0,
      used_day: '2026-03-01',
      used_today: today,
    });
    expect(creationBlockReason(beta, used(99, 9), now)).toBeNull();
    expect(creationBlockReason(beta, used(100, 9), now)).toBe('total_quota_exhausted');
    expect(creationBlockReason(beta, used(99, 10), now)).toBe('daily_quota_exhausted');
  });

  test('is the expiry of a beta from that time on, and never for legacy', () => {
    const last = new Date(Date.parse(days(20)) - 1);
    expect(creationBlockReason(beta, unused, last)).toBeNull();
    expect(creationBlockReason(beta, unused, new Date(days(20)))).toBe('beta_expired');
    expect(creationBlockReason(legacy, unused, new Date(days(4000)))).toBeNull();
  });

  test('counts a new day from 00:00 UTC', () => {
    const usage: Usage = { used_lifetime: 10, package_base: 0, used_day: '2026-03-01', used_today: 10 };
    expect(creationBlockReason(beta, usage, new Date('2026-03-01T23:59:59.999Z'))).toBe('daily_quota_exhausted');
    expect(creationBlockReason(beta, usage, new Date('2026-03-02T00:00:00.000Z'))).toBeNull();
  });

  test('counts a new package from its own start, while the day keeps counting', () => {
    const moved: Usage = { used_lifetime: 4007, package_base: 4000, used_day: '2026-03-01', used_today: 10 };
    expect(creationBlockReason({ ...beta, daily_limit: null }, moved, now)).toBeNull();
    expect(creationBlockReason(beta, moved, now)).toBe('daily_quota_exhausted');
  });
});

const anyPolicy = fc.record({
  access_type: fc.constantFrom('beta' as const, 'legacy' as const),
  account_active: fc.boolean(),
  creation_paused: fc.boolean(),
  expiresInDays: fc.option(fc.integer({ min: -3, max: 3 })),
  total_limit: fc.integer({ min: 0, max: 20 }),
  daily_limit: fc.option(fc.integer({ min: 0, max: 20 })),
});
const anyUsage = fc
  .record({
    base: fc.nat(10),
    inPackage: fc.nat(20),
    today: fc.nat(20),
    day: fc.constantFrom('2026-03-01', '2026-02-28', null),
  })
  .map(({ base, inPackage, today, day }): Usage => ({
    used_lifetime: base + inPackage,
    package_base: base,
    used_day: day,
    used_today: Math.min(today, base + inPackage),
  }));

describe('the limits record', () => {
  test('says what creation would do, and its counts explain why', () => {
    fc.assert(
      fc.property(anyPolicy, anyUsage, ({ expiresInDays, ...change }, usage) => {
        const expires = change.access_type === 'beta' && expiresInDays !== null ? days(expiresInDays) : null;
        const policy: AccessPolicy = {
          ...(change.access_type === 'beta' ? beta : legacy),
          ...change,
          beta_expires_at: expires,
        };
        const reason = creationBlockReason(policy, usage, now);
        const limits = limitsRecord(policy, usage, now);

        expect(limits.creation_block_reason).toBe(reason);
        expect(limits.creation_allowed).toBe(reason === null);
        if (limits.creation_allowed) {
          expect(limits.requests_left).toBeGreaterThan(0);
          expect(limits.daily_left ?? 1).toBeGreaterThan(0);
        }
        if (reason === 'total_quota_exhausted') expect(limits.requests_left).toBe(0);
        if (reason === 'daily_quota_exhausted') expect(limits.daily_left).toBe(0);
        expect(limits.requests_left).toBe(Math.max(0, policy.total_limit - limits.requests_used));
        expect(limits.daily_used).toBe(usage.used_day === '2026-03-01' ? usage.used_today : 0);
      }),
    );
  });

  test('of a legacy account has no beta and no daily limit', () => {
    expect(
      limitsRecord(legacy, { used_lifetime: 7, package_base: 0, used_day: '2026-03-01', used_today: 2 }, now),
    ).toEqual({
      merchant_id: legacy.merchant_id,
      access_type: 'legacy',
      status: 'active',
      creation_enabled: true,
      creation_allowed: true,
      creation_block_reason: null,
      beta_duration_days: null,
      beta_started_at: null,
      beta_expires_at: null,
      total_limit: 5000,
      requests_used: 7,
      requests_left: 4993,
      lifetime_requests_used: 7,
      daily_limit: null,
      daily_used: 2,
      daily_left: null,
      daily_reset_at: '2026-03-02T00:00:00.000Z',
      server_time: '2026-03-01T12:00:00.000Z',
    });
  });

  test('distinguishes a pause from a block', () => {
    expect(limitsRecord({ ...beta, creation_paused: true }, unused, now)).toMatchObject({
      status: 'active',
      creation_enabled: false,
      creation_block_reason: 'creation_paused',
    });
    expect(limitsRecord({ ...beta, account_active: false }, unused, now)).toMatchObject({
      status: 'blocked',
      creation_enabled: true,
      creation_block_reason: 'account_inactive',
    });
  });
});
