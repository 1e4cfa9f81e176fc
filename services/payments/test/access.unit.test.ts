import { describe, expect, test } from '@jest/globals';
import { type AccessPolicy, creationBlockReasons } from '@quittance/contracts/access.ts';
import fc from 'fast-check';
import { creationBlockReason, creationLimits, type Usage } from '../src/access.ts';

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
const unused: Usage = { usedLifetime: 0, packageBase: 0, usedDay: null, usedToday: 0 };

describe('why a creation is blocked', () => {
  test('an active beta with something left may create', () => {
    expect(creationBlockReason(beta, unused, now)).toBeNull();
  });

  test('reasons are looked at in the order of the contract', () => {
    // Each step removes the reason found last; the ones after it have been there all the time.
    const spent: Usage = { usedLifetime: 100, packageBase: 0, usedDay: '2026-03-01', usedToday: 10 };
    const steps: Partial<AccessPolicy>[] = [
      { account_active: false, creation_paused: true, beta_started_at: null, beta_expires_at: null },
      { creation_paused: true, beta_started_at: null, beta_expires_at: null },
      { beta_started_at: null, beta_expires_at: null },
      { beta_expires_at: now.toISOString() },
      {},
      { total_limit: 101 },
    ];
    expect(steps.map((step) => creationBlockReason({ ...beta, ...step }, spent, now))).toEqual([
      ...creationBlockReasons,
    ]);
  });

  test('the last payment of the total and of the day may be created, the one after may not', () => {
    const used = (total: number, today: number): Usage => ({
      usedLifetime: total,
      packageBase: 0,
      usedDay: '2026-03-01',
      usedToday: today,
    });
    expect(creationBlockReason(beta, used(99, 9), now)).toBeNull();
    expect(creationBlockReason(beta, used(100, 9), now)).toBe('total_quota_exhausted');
    expect(creationBlockReason(beta, used(99, 10), now)).toBe('daily_quota_exhausted');
  });

  test('a beta ends at its moment of expiry, and legacy never does', () => {
    const last = new Date(Date.parse(days(20)) - 1);
    expect(creationBlockReason(beta, unused, last)).toBeNull();
    expect(creationBlockReason(beta, unused, new Date(days(20)))).toBe('beta_expired');
    expect(creationBlockReason(legacy, unused, new Date(days(4000)))).toBeNull();
  });

  test('the day begins anew at 00:00 UTC', () => {
    const usage: Usage = { usedLifetime: 10, packageBase: 0, usedDay: '2026-03-01', usedToday: 10 };
    expect(creationBlockReason(beta, usage, new Date('2026-03-01T23:59:59.999Z'))).toBe('daily_quota_exhausted');
    expect(creationBlockReason(beta, usage, new Date('2026-03-02T00:00:00.000Z'))).toBeNull();
  });

  test('a new package counts from its own beginning, while the day goes on counting', () => {
    const moved: Usage = { usedLifetime: 4007, packageBase: 4000, usedDay: '2026-03-01', usedToday: 10 };
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
    usedLifetime: base + inPackage,
    packageBase: base,
    usedDay: day,
    usedToday: Math.min(today, base + inPackage),
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
        const limits = creationLimits(policy, usage, now);

        expect(limits.creation_block_reason).toBe(reason);
        expect(limits.creation_allowed).toBe(reason === null);
        if (limits.creation_allowed) {
          expect(limits.requests_left).toBeGreaterThan(0);
          expect(limits.daily_left ?? 1).toBeGreaterThan(0);
        }
        if (reason === 'total_quota_exhausted') expect(limits.requests_left).toBe(0);
        if (reason === 'daily_quota_exhausted') expect(limits.daily_left).toBe(0);
        expect(limits.requests_left).toBe(Math.max(0, policy.total_limit - limits.requests_used));
        expect(limits.daily_used).toBe(usage.usedDay === '2026-03-01' ? usage.usedToday : 0);
      }),
    );
  });

  test('of a legacy account has no beta and no day', () => {
    expect(
      creationLimits(legacy, { usedLifetime: 7, packageBase: 0, usedDay: '2026-03-01', usedToday: 2 }, now),
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

  test('tells a pause from a block', () => {
    expect(creationLimits({ ...beta, creation_paused: true }, unused, now)).toMatchObject({
      status: 'active',
      creation_enabled: false,
      creation_block_reason: 'creation_paused',
    });
    expect(creationLimits({ ...beta, account_active: false }, unused, now)).toMatchObject({
      status: 'blocked',
      creation_enabled: true,
      creation_block_reason: 'account_inactive',
    });
  });
});
