import { describe, expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { type HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { repeated } from '../support/counted.ts';
import { apiAt, extensions, openMerchant, type Merchant } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

/** Repeated creations, and the precedence of several reasons to refuse one. */
export function idempotencySection(contract: Contract): void {
  const open = (access: Parameters<typeof openMerchant>[1] = {}) => openMerchant(contract.stack, access);
  const paymentsOf = async (merchant: Merchant) =>
    (await merchant.call('GET', '/api/v1/payments')).json<{ payments: Payment[] }>().payments;
  const createRaw = (merchant: Merchant, key: string, body: string) =>
    merchant.call('POST', '/api/v1/payments', {
      headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
      body,
    });

  describe('a creation repeated with its Idempotency-Key', () => {
    rule(
      ['endpoint.rule1.replay', 'endpoint.create', 'errors.201'],
      'is answered with the bytes of the first 201, however the same values are spelt',
      async () => {
        const merchant = await open();
        const body = { amount: '10.50', merchant_wallet: merchant.wallet, description: 'Café', ...extensions };
        const first = await merchant.create(body, 'order-1');
        expect(first.status).toBe(201);
        expect(first.headers).not.toHaveProperty('idempotency-replayed');
        const spellings = [
          JSON.stringify(body),
          JSON.stringify(body, null, 2),
          JSON.stringify({ ...body, amount: '10.5' }),
          JSON.stringify({ ...body, amount: '10.500000' }),
          JSON.stringify({ ...body, merchant_wallet: merchant.wallet.toLowerCase() }),
          JSON.stringify({ ...body, description: 'Cafe\u0301' }),
          JSON.stringify({ network: contract.stack.chain.network, ...body }),
          JSON.stringify(Object.fromEntries(Object.entries(body).reverse())),
          JSON.stringify(body).replace('10.50', String.raw`\u0031\u0030.50`),
        ];
        const replays = await Promise.all(spellings.map((text) => createRaw(merchant, 'order-1', text)));
        for (const replay of replays) {
          expect(replay).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' } });
          expect(replay.text).toBe(first.text);
        }
        expect(await paymentsOf(merchant)).toHaveLength(1);
      },
    );

    rule(['endpoint.rule1.replay', 'errors.409'], 'is 409 with other values, and creates nothing', async () => {
      const merchant = await open();
      const first = await merchant.create({ amount: '10.50' }, 'order-2');
      const others = [
        { amount: '10.51' },
        { merchant_wallet: newWallet() },
        { description: 'One cup of Coffee' },
        { description: 'One cup of coffee ' },
      ];
      for (const answer of await Promise.all(others.map((body) => merchant.create(body, 'order-2')))) {
        expect(answer.status).toBe(409);
        expect(answer.json()).toEqual({
          detail: expect.stringMatching(/Idempotency-Key/),
          code: 'idempotency_conflict',
        });
      }
      expect((await merchant.create({ amount: '10.50' }, 'order-2')).text).toBe(first.text);
      expect(await paymentsOf(merchant)).toHaveLength(1);
    });

    rule('endpoint.rule1.replay', 'still gets the first answer after the payment has changed', async () => {
      const merchant = await open();
      const first = await merchant.create({ amount: '4' }, 'order-3');
      const { payment_id } = first.json<Payment>();
      expect((await merchant.call('POST', `/api/v1/payments/${payment_id}/cancel`)).status).toBe(200);
      const replay = await merchant.create({ amount: '4' }, 'order-3');
      expect([replay.status, replay.text]).toEqual([201, first.text]);
      expect((await paymentsOf(merchant)).map(({ status }) => status)).toEqual(['CANCELLED']);
    });

    rule('endpoint.rule1.replay', 'matches only keys of its own merchant, in their exact spelling', async () => {
      const [one, other] = await Promise.all([open(), open()]);
      const created = await Promise.all([
        one.created({ amount: '1' }, 'Order-4'),
        one.created({ amount: '2' }, 'order-4'),
        one.created({ amount: '3' }, 'order-4.'),
        other.created({ amount: '1' }, 'Order-4'),
      ]);
      expect(new Set(created.map(({ payment_id }) => payment_id)).size).toBe(4);
    });

    rule('endpoint.rule1.replay', 'creates one payment when ten come at once, and all get its 201', async () => {
      const merchant = await open();
      const urls = contract.stack.services['api-gateway'].replicas.map(({ url }) => url);
      const call = (index: number): Promise<HttpAnswer> => {
        const door = apiAt([contract.stack.edge_url, ...urls][index % (urls.length + 1)]!);
        const headers = { 'X-API-Key': merchant.apiKey, 'Idempotency-Key': 'order-5' };
        const body = { amount: '9', merchant_wallet: merchant.wallet, description: 'At once' };
        return door('POST', '/api/v1/payments', { headers, body });
      };
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => insist(() => call(index))));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
      expect(await paymentsOf(merchant)).toHaveLength(1);
    });

    rule(
      ['endpoint.rule1.retry', 'errors.409', 'errors.422'],
      'succeeds after it failed: only a success is saved under the key',
      async () => {
        const merchant = await open();
        const { payment_id } = await merchant.created({ amount: '6' });
        const failed = [
          await merchant.create({ amount: '6,0' }, 'order-6'),
          await merchant.create({ amount: '6' }, 'order-6'),
        ];
        expect(failed.map(({ status }) => status)).toEqual([422, 409]);
        await merchant.call('POST', `/api/v1/payments/${payment_id}/cancel`);
        const created = await merchant.create({ amount: '6' }, 'order-6');
        expect(created.status).toBe(201);
        expect(created.headers).not.toHaveProperty('idempotency-replayed');
        // A key whose creations all failed is also free for a different body.
        expect((await merchant.create({ amount: '6' }, 'order-7')).status).toBe(409);
        expect((await merchant.create({ amount: '6.1' }, 'order-7')).status).toBe(201);
      },
    );
  });

  describe('of several reasons to refuse a creation', () => {
    rule(
      ['errors.422', 'errors.429', 'limits.app.create', 'limits.app.rule5'],
      'an invalid field comes before the rate limit and does not count; the limit comes before a replay',
      async () => {
        const merchant = await open();
        const invalid = await repeated(35, () => merchant.create({ amount: '-1' }));
        expect(invalid.map(({ status }) => status)).toEqual(invalid.map(() => 422));
        const repeat = () => merchant.create({ amount: '1' }, 'the-order');
        const admitted = await repeated(30, repeat);
        expect(admitted.map(({ status }) => status)).toEqual(admitted.map(() => 201));
        expect(await repeat()).toMatchObject({
          status: 429,
          headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
        });
        expect(await merchant.create({ amount: '2' }, 'the-order')).toMatchObject({ status: 429 });
        expect(await merchant.create({ amount: '-1' }, 'the-order')).toMatchObject({ status: 422 });
        expect(await merchant.create({}, '')).toMatchObject({ status: 422 });
        const badKey = { headers: { 'X-API-Key': 'qk_wrong' }, body: '{' };
        expect(await merchant.call('POST', '/api/v1/payments', badKey)).toMatchObject({ status: 401 });
      },
    );

    rule(
      ['errors.403', 'errors.409', 'errors.body.7'],
      'a saved reply, or a conflict of the key, comes before an exhausted quota, and that before every other 409',
      async () => {
        const [merchant, other] = await Promise.all([open({ total_limit: 1 }), open()]);
        const foreign = await other.created({ amount: '5' });
        const first = await merchant.create({ amount: '1' }, 'only');
        expect(first.status).toBe(201);
        const replay = await merchant.create({ amount: '1' }, 'only');
        expect([replay.status, replay.text]).toEqual([201, first.text]);
        expect(await merchant.create({ amount: '2' }, 'only')).toMatchObject({ status: 409 });
        const refused = await Promise.all([
          merchant.create({ amount: '1' }),
          merchant.create({ amount: '5', merchant_wallet: foreign.merchant_wallet }),
        ]);
        expect(refused.map(({ status }) => status)).toEqual([403, 403]);
        const paused = await open({ webhook: false, total_limit: 0 });
        expect(await paused.create()).toMatchObject({ status: 403 });
      },
    );

    rule(
      ['errors.409', 'endpoint.rule1.webhook-first'],
      'a missing webhook comes before a foreign wallet, and that before an unfinished payment',
      async () => {
        const [owner, other, without] = await Promise.all([open(), open(), open({ webhook: false })]);
        await owner.created({ amount: '5' });
        const detailOf = async (asked: Promise<HttpAnswer>): Promise<string> => {
          const answer = await asked;
          expect(answer.status).toBe(409);
          return answer.json<{ detail: string }>().detail;
        };
        const taken = { amount: '5', merchant_wallet: owner.wallet };
        const [webhookMissing, foreignWallet, unfinished] = await Promise.all([
          detailOf(without.create({ amount: '5' })),
          detailOf(other.create({ ...taken, amount: '4' })),
          detailOf(owner.create({ amount: '5' }, randomUUID())),
        ]);
        expect(new Set([webhookMissing, foreignWallet, unfinished]).size).toBe(3);
        expect(await detailOf(without.create(taken))).toBe(webhookMissing);
        expect(await detailOf(other.create(taken))).toBe(foreignWallet);
      },
    );
  });
}
