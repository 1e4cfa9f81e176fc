import { describe, expect } from '@jest/globals';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { insist } from '@quittance/testkit/insist.ts';
import type { Contract } from '../conformance.test.ts';
import { changeAccess, limitsOf, passBetaDays, passDays, standardBeta } from '../support/access.ts';
import { repeated } from '../support/counted.ts';
import { apiAt, openMerchant, trust, type Merchant } from '../../support/merchant.ts';
import { createAndPay, deliveriesOf, detailsOf, publicStatus, untilStatus } from '../../support/paying.ts';
import { untilReceived } from '../../support/receiver.ts';
import { rule } from '../support/rule.ts';

/** How many payments a merchant may create, and what still works when it may create none. */
export function quotaSection(contract: Contract): void {
  describe('the creation quota', () => {
    const open = (access: Parameters<typeof openMerchant>[1]) => openMerchant(contract.stack, access);
    const change = (merchant: Merchant, action: string, body?: object) =>
      changeAccess(contract.stack, merchant, action, body);
    const createMany = async (merchant: Merchant, many: number, from = 1) =>
      (
        await Promise.all(
          Array.from({ length: many }, (_, index) => {
            const amount = `${from + index}`;
            return insist(() => merchant.create({ amount }, `order-${amount}`));
          }),
        )
      ).map(({ status }) => status);
    const codeOf = async (merchant: Merchant) =>
      (await merchant.create({ amount: '777' })).json<{ detail: { code: string } }>().detail.code;

    rule(
      ['quota.2', 'quota.7', 'endpoint.rule1.access'],
      'a standard beta creates ten a UTC day however many requests come at once, and ten more the next day',
      () =>
        withinOneDay(async () => {
          const merchant = await open(standardBeta);
          await change(merchant, 'activate');
          const statuses = await createMany(merchant, 13);
          expect(statuses.sort()).toEqual([...Array<number>(10).fill(201), 403, 403, 403]);
          expect(await codeOf(merchant)).toBe('daily_quota_exhausted');
          await passDays(contract.stack, merchant, 1);
          expect(await limitsOf(merchant)).toMatchObject({
            ...{ daily_used: 0, daily_left: 10, requests_used: 10, requests_left: 90, creation_allowed: true },
          });
          expect(await createMany(merchant, 1, 100)).toEqual([201]);
        }),
    );

    rule(
      ['quota.2', 'quota.6', 'endpoint.rule1.access'],
      'a total is exact however many requests come at once, and neither a month nor an extension adds to it',
      () =>
        withinOneDay(async () => {
          const merchant = await open({ access_type: 'beta', total_limit: 4, daily_limit: 9, beta_duration_days: 40 });
          await change(merchant, 'activate');
          const statuses = await createMany(merchant, 9);
          expect(statuses.sort()).toEqual([...Array<number>(4).fill(201), ...Array<number>(5).fill(403)]);
          await passBetaDays(contract.stack, merchant, 32);
          await passDays(contract.stack, merchant, 32);
          const before = await limitsOf(merchant);
          expect(before).toMatchObject({ requests_used: 4, requests_left: 0, daily_used: 0 });
          await change(merchant, 'extend', { days: 30 });
          const after = await limitsOf(merchant);
          expect(after).toEqual({
            ...before,
            beta_duration_days: 70,
            beta_expires_at: new Date(Date.parse(before.beta_expires_at!) + 30 * 86_400_000).toISOString(),
            server_time: expect.any(String),
            last_api_request_at: expect.any(String),
          });
          expect(await codeOf(merchant)).toBe('total_quota_exhausted');
        }),
    );

    rule('quota.3', 'a legacy account has its total, without a daily cap or an end', () =>
      withinOneDay(async () => {
        const merchant = await open({ access_type: 'legacy', total_limit: 14 });
        expect(await createMany(merchant, 14)).toEqual(Array<number>(14).fill(201));
        expect(await codeOf(merchant)).toBe('total_quota_exhausted');
        expect(await limitsOf(merchant)).toMatchObject({ daily_limit: null, daily_used: 14, beta_expires_at: null });
        await change(merchant, 'limits', { daily_limit: 14, total_limit: 20 });
        expect(await codeOf(merchant)).toBe('daily_quota_exhausted');
      }),
    );

    rule('quota.4', "payments of the same day count toward the beta's daily limit", () =>
      withinOneDay(async () => {
        const merchant = await open({ access_type: 'legacy', total_limit: 3 });
        expect(await createMany(merchant, 3)).toEqual([201, 201, 201]);
        await change(merchant, 'move-to-beta', { daily_limit: 5 });
        expect(await codeOf(merchant)).toBe('beta_not_activated');
        await change(merchant, 'activate');
        expect((await createMany(merchant, 4, 10)).sort()).toEqual([201, 201, 403, 403]);
        expect(await codeOf(merchant)).toBe('daily_quota_exhausted');
        expect(await limitsOf(merchant)).toMatchObject({
          ...{ requests_used: 2, requests_left: 98, lifetime_requests_used: 5, daily_used: 5, daily_left: 0 },
        });
      }),
    );

    rule(
      ['quota.5', 'limits.app.rule5', 'events.delivery.6'],
      'replays, refusals, reads, a cancellation and a delivery use none of it',
      () =>
        withinOneDay(async () => {
          const merchant = await open({ access_type: 'legacy', total_limit: 5, daily_limit: 5 });
          await createAndPay(contract.stack, merchant, { amount: '51' });
          const second = await merchant.created({ amount: '52' }, 'order-52');
          await untilReceived(contract.stack, merchant.host);
          const answers = await Promise.all([
            merchant.create({ amount: '52' }, 'order-52'),
            merchant.create({ amount: '53' }, 'order-52'),
            merchant.create({ amount: '52' }),
            merchant.create({ amount: '0' }),
            merchant.call('GET', '/api/v1/payments'),
          ]);
          expect(answers.map(({ status }) => status)).toEqual([201, 409, 409, 422, 200]);
          const cancelled = await merchant.call('POST', `/api/v1/payments/${second.payment_id}/cancel`);
          expect(cancelled.status).toBe(200);
          expect(await limitsOf(merchant)).toMatchObject({
            ...{ requests_used: 2, requests_left: 3, lifetime_requests_used: 2, daily_used: 2, daily_left: 3 },
          });
        }),
    );

    rule(
      ['quota.8', 'service.reads-while-blocked', 'events.delivery.6', 'errors.403'],
      'when it is used up, the beta has ended and creation is paused, everything except creation still works',
      async () => {
        const merchant = await open({ access_type: 'beta', total_limit: 2, daily_limit: 2, beta_duration_days: 1 });
        await change(merchant, 'activate');
        const [open1, open2] = [await merchant.created({ amount: '61' }), await merchant.created({ amount: '62' })];
        await passBetaDays(contract.stack, merchant, 2);
        await change(merchant, 'pause');
        expect(await codeOf(merchant)).toBe('creation_paused');

        await payOnChain(contract.stack.chain, merchant.wallet, '61');
        const cancelled = await merchant.call('POST', `/api/v1/payments/${open2.payment_id}/cancel`);
        expect(cancelled.status).toBe(200);
        const settings = await merchant.call('PUT', '/api/v1/merchant/webhook', {
          body: { url: `https://${merchant.host}/moved` },
        });
        expect(settings.status).toBe(200);
        const rotated = await merchant.call('POST', '/api/v1/merchant/webhook/rotate-key');
        const { key_id: keyId, signing_key: signingKey } = rotated.json<{ key_id: string; signing_key: string }>();
        await trust(contract.stack, keyId, signingKey);

        await untilStatus(contract.stack, open1, 'PAID');
        expect(await publicStatus(contract.stack, open2)).toMatchObject({ status: 'CANCELLED' });
        const [event] = await untilReceived(contract.stack, merchant.host);
        expect(event).toMatchObject({ path: '/moved', verified: true, body: { payment_id: open1.payment_id } });
        expect(await detailsOf(merchant, open1)).toMatchObject({ status: 'PAID' });
        expect(await deliveriesOf(merchant, open1)).toHaveLength(1);
        const paths = ['/payments', '/payments/page', '/merchant/limits', '/merchant/webhook'];
        const reads = await Promise.all(paths.map((path) => merchant.call('GET', `/api/v1${path}`)));
        expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 200]);

        const edge = apiAt(contract.stack.edge_url);
        const keyed = await edge('POST', '/api/v1/merchant/rotate-key', {
          headers: { 'secret-key': merchant.rotationSecret },
        });
        expect(keyed.status).toBe(200);
        const { new_api_key: newKey } = keyed.json<{ new_api_key: string }>();
        const withNewKey = { headers: { 'X-API-Key': newKey } };
        expect((await merchant.call('GET', '/api/v1/merchant/limits', withNewKey)).json()).toMatchObject({
          status: 'active',
          creation_block_reason: 'creation_paused',
        });
      },
    );

    rule(
      ['errors.body.7', 'limits.app.rule5', 'endpoint.rule1.replay'],
      'a replay is answered after exhaustion, expiry or pause, and counts toward the creation limit',
      async () => {
        const merchant = await open({ access_type: 'beta', total_limit: 1, beta_duration_days: 1 });
        await change(merchant, 'activate');
        const first = await merchant.create({ amount: '71' }, 'the-order');
        expect(first.status).toBe(201);
        const replay = () => merchant.create({ amount: '71' }, 'the-order');
        const expectReplay = async () => {
          const answer = await replay();
          expect([answer.status, answer.headers['idempotency-replayed'], answer.text]).toEqual([
            201,
            'true',
            first.text,
          ]);
        };
        expect(await codeOf(merchant)).toBe('total_quota_exhausted');
        await expectReplay();
        await passBetaDays(contract.stack, merchant, 2);
        expect(await codeOf(merchant)).toBe('beta_expired');
        await expectReplay();
        await change(merchant, 'pause');
        expect(await codeOf(merchant)).toBe('creation_paused');
        await expectReplay();
        // Seven requests have counted so far.
        const rest = await repeated(24, replay);
        expect(rest.map(({ status }) => status).sort()).toEqual([...Array<number>(23).fill(201), 429]);
      },
    );
  });
}
