import { describe, expect } from '@jest/globals';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import type { Contract } from '../conformance.test.ts';
import { changeAccess, limitsOf, passBetaDays, standardBeta } from '../support/access.ts';
import { openMerchant } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

/** GET /merchant/limits. */
export function limitsRecordSection(contract: Contract): void {
  describe('the creation limits record', () => {
    const open = (access: Parameters<typeof openMerchant>[1] = {}) => openMerchant(contract.stack, access);

    rule(
      ['endpoint.limits', 'limits-record.fields', 'limits-record.utc', 'quota.3'],
      'of a legacy account has every field, null for the values of a beta, and no daily cap',
      () =>
        withinOneDay(async () => {
          const merchant = await open({ access_type: 'legacy', total_limit: 500 });
          const limits = await limitsOf(merchant);
          expect(limits).toEqual({
            merchant_id: merchant.merchantId,
            access_type: 'legacy',
            status: 'active',
            creation_enabled: true,
            creation_allowed: true,
            creation_block_reason: null,
            beta_duration_days: null,
            beta_started_at: null,
            beta_expires_at: null,
            total_limit: 500,
            requests_used: 0,
            requests_left: 500,
            lifetime_requests_used: 0,
            daily_limit: null,
            daily_used: 0,
            daily_left: null,
            daily_reset_at: expect.stringMatching(/T00:00:00\.000Z$/),
            server_time: expect.stringMatching(UTC_TIMESTAMP),
            last_api_request_at: expect.stringMatching(UTC_TIMESTAMP),
          });
        }),
    );

    rule(
      ['endpoint.limits', 'limits-record.utc', 'quota.7'],
      'says when the day ends: at the next midnight UTC after server_time, which is now',
      async () => {
        const merchant = await open();
        const before = Date.now();
        const { server_time: now, daily_reset_at: reset } = await limitsOf(merchant);
        // Both run on one machine, so the clock is the same. PostgreSQL stores at least milliseconds.
        expect(Date.parse(now)).toBeGreaterThanOrEqual(before - 1);
        expect(Date.parse(now)).toBeLessThanOrEqual(Date.now() + 1);
        const midnight = new Date(now);
        midnight.setUTCHours(24, 0, 0, 0);
        expect(reset).toBe(midnight.toISOString());
      },
    );

    rule(
      ['limits-record.fields', 'limits-record.not-activated', 'quota.2'],
      'of a standard beta shows 100 in total and 10 a day, and no dates before its activation',
      () =>
        withinOneDay(async () => {
          const merchant = await open(standardBeta);
          const pending = {
            access_type: 'beta',
            creation_enabled: true,
            creation_allowed: false,
            creation_block_reason: 'beta_not_activated',
            beta_duration_days: 30,
            beta_started_at: null,
            beta_expires_at: null,
            ...{ total_limit: 100, requests_used: 0, requests_left: 100, lifetime_requests_used: 0 },
            ...{ daily_limit: 10, daily_used: 0, daily_left: 10 },
          };
          expect(await limitsOf(merchant)).toMatchObject(pending);
        }),
    );

    rule(
      ['limits-record.fields', 'limits-record.utc', 'quota.1'],
      'of an activated beta shows a window of thirty days that begins with the activation',
      async () => {
        const merchant = await open(standardBeta);
        const before = Date.now();
        await changeAccess(contract.stack, merchant, 'activate');
        const limits = await limitsOf(merchant);
        expect(limits).toMatchObject({
          creation_allowed: true,
          creation_block_reason: null,
          beta_duration_days: 30,
          beta_started_at: expect.stringMatching(UTC_TIMESTAMP),
          beta_expires_at: expect.stringMatching(UTC_TIMESTAMP),
        });
        const started = Date.parse(limits.beta_started_at!);
        expect(started).toBeGreaterThanOrEqual(before - 1);
        expect(started).toBeLessThanOrEqual(Date.parse(limits.server_time));
        expect(Date.parse(limits.beta_expires_at!) - started).toBe(30 * 86_400_000);
        await passBetaDays(contract.stack, merchant, 30);
        expect(await limitsOf(merchant)).toMatchObject({
          creation_allowed: false,
          creation_block_reason: 'beta_expired',
        });
      },
    );

    rule('limits-record.fields', 'counts a creation at once, at every replica', () =>
      withinOneDay(async () => {
        const merchant = await open({ access_type: 'legacy', total_limit: 5, daily_limit: 3 });
        for (let used = 1; used <= 3; used += 1) {
          await merchant.created({ amount: `${used}` });
          const records = await Promise.all([1, 2, 3, 4].map(() => limitsOf(merchant)));
          for (const record of records) {
            expect(record).toMatchObject({
              ...{ requests_used: used, requests_left: 5 - used, lifetime_requests_used: used },
              ...{ daily_limit: 3, daily_used: used, daily_left: 3 - used },
              creation_allowed: used < 3,
              creation_block_reason: used < 3 ? null : 'daily_quota_exhausted',
            });
          }
        }
      }),
    );

    rule(
      ['limits-record.beta-package', 'quota.4'],
      'of an account that moved to beta restarts the count of the package, and continues those of the day and the lifetime',
      () =>
        withinOneDay(async () => {
          const merchant = await open({ access_type: 'legacy', total_limit: 50 });
          await Promise.all(['1', '2', '3'].map((amount) => merchant.created({ amount })));
          await changeAccess(contract.stack, merchant, 'move-to-beta', {});
          await changeAccess(contract.stack, merchant, 'activate');
          const moved = { access_type: 'beta', total_limit: 100, daily_limit: 10 };
          expect(await limitsOf(merchant)).toMatchObject({
            ...moved,
            ...{ requests_used: 0, requests_left: 100, lifetime_requests_used: 3, daily_used: 3, daily_left: 7 },
          });
          await merchant.created({ amount: '4' });
          expect(await limitsOf(merchant)).toMatchObject({
            ...moved,
            ...{ requests_used: 1, requests_left: 99, lifetime_requests_used: 4, daily_used: 4, daily_left: 6 },
          });
        }),
    );

    rule('limits-record.fields', 'shows a pause as creation_enabled false, and limits below usage as none left', () =>
      withinOneDay(async () => {
        const merchant = await open({ access_type: 'legacy', total_limit: 9, daily_limit: 9 });
        await Promise.all(['1', '2', '3'].map((amount) => merchant.created({ amount })));
        await changeAccess(contract.stack, merchant, 'limits', { total_limit: 2, daily_limit: 1 });
        await changeAccess(contract.stack, merchant, 'pause');
        const paused = { creation_enabled: false, creation_allowed: false, creation_block_reason: 'creation_paused' };
        expect(await limitsOf(merchant)).toMatchObject({
          ...paused,
          status: 'active',
          requests_left: 0,
          daily_left: 0,
        });
        await changeAccess(contract.stack, merchant, 'resume');
        expect(await limitsOf(merchant)).toMatchObject({
          creation_enabled: true,
          creation_allowed: false,
          creation_block_reason: 'total_quota_exhausted',
        });
      }),
    );

    rule(
      ['limits-record.fields', 'limits-record.no-credentials'],
      'has the time of the previous request, null on the first, and no part of a credential',
      async () => {
        const merchant = await open({ webhook: false });
        const askedFrom = Date.now();
        const [first, text] = await merchant
          .call('GET', '/api/v1/merchant/limits')
          .then((answer) => [answer.json<CreationLimits>(), answer.text] as const);
        const askedTo = Date.now();
        expect(first.last_api_request_at).toBeNull();
        const second = await limitsOf(merchant);
        const previous = Date.parse(second.last_api_request_at!);
        expect(previous).toBeGreaterThanOrEqual(askedFrom - 1);
        expect(previous).toBeLessThanOrEqual(askedTo + 1);
        expect((await limitsOf(merchant)).last_api_request_at! > second.last_api_request_at!).toBe(true);
        for (const secret of [merchant.apiKey, merchant.rotationSecret, 'qk_', 'qr_', 'whsec_']) {
          expect(text).not.toContain(secret);
        }
      },
    );
  });
}
