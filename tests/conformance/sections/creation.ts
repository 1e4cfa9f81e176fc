import { beforeAll, describe, expect } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { fewAtATime } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { apiAt, openMerchant, shownExtensions, type Api, type Merchant } from '../../support/merchant.ts';
import { detailsOf, publicStatus, tokenOf } from '../../support/paying.ts';
import { protectedEndpoints } from '../../support/protected-endpoints.ts';
import { rule } from '../support/rule.ts';
import { UTC_TIMESTAMP } from '../support/timestamp.ts';

const UNFINISHED = /finish the current payment with this amount on this address first/i;

/** POST /api/v1/payments with valid fields: the content of the 201, and conflicts. */
export function creationSection(contract: Contract): void {
  describe('creating a payment', () => {
    let merchant: Merchant;
    let anybody: Api;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      anybody = apiAt(contract.stack.edge_url);
    });
    const shownToAnybody = (payment: Payment) => publicStatus(contract.stack, payment);

    rule(
      ['endpoint.create', 'errors.201', 'payment.payment_id', 'payment.payment_url', 'payment.status'],
      'the 201 holds every field of the payment, nothing else, and is not cached',
      async () => {
        const answer = await merchant.create({ amount: '10.50', description: 'Order 7' });
        expect(answer).toMatchObject({
          status: 201,
          headers: { 'content-type': expect.stringMatching(/^application\/json/), 'cache-control': 'no-store' },
        });
        expect(answer.headers).not.toHaveProperty('idempotency-replayed');
        const payment = answer.json<Payment>();
        expect(payment).toEqual({
          payment_id: expect.stringMatching(/^pay_[0-9a-f]{32}$/),
          payment_url: expect.stringMatching(/^https?:\/\/[^?#]+\/pay\/[A-Za-z0-9_-]{43}$/),
          status: 'PENDING',
          amount: '10.50',
          currency: 'USDT',
          network: contract.stack.chain.network,
          merchant_wallet: merchant.wallet,
          description: 'Order 7',
          created_at: expect.stringMatching(UTC_TIMESTAMP),
          expires_at: expect.stringMatching(UTC_TIMESTAMP),
          paid_at: null,
          cancelled_at: null,
          transaction: null,
          // Fields beyond the interface document.
          ...shownExtensions,
          requested_amount: '10.50',
          reference: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{8}$/),
          ...{ dedicated: false, derivation_index: null, received_amount: null, accept_from_percent: null },
          ...{ price: null, rate: null },
        });
        expect(Date.parse(payment.expires_at)).toBeGreaterThan(Date.parse(payment.created_at));
        expect(await detailsOf(merchant, payment)).toEqual({
          ...payment,
          unmatched_transfers: [],
          transfers: [],
          warnings: [],
        });
      },
    );

    rule(['payment.payment_url', 'payment.link'], 'the token in payment_url shows that payment to anyone', async () => {
      const payment = await merchant.created({ amount: '11' });
      const other = await merchant.created({ amount: '11.01' });
      expect(tokenOf(payment)).not.toBe(tokenOf(other));
      expect(tokenOf(payment)).not.toContain(payment.payment_id.slice('pay_'.length));
      const { status, amount, currency, network, merchant_wallet, description, expires_at } = payment;
      const shown = { status, amount, currency, network, merchant_wallet, description, expires_at };
      expect(await shownToAnybody(payment)).toEqual(shown);
      // The id is not a token: knowing one does not reveal the other.
      expect(await anybody('GET', `/api/v1/payments/${payment.payment_id}`)).toMatchObject({ status: 404 });
    });

    rule(
      'payment.link',
      'the token changes nothing, gives access to nothing else and works after a cancellation',
      async () => {
        const payment = await merchant.created({ amount: '12' });
        const token = tokenOf(payment);
        const asKey = { headers: { 'X-API-Key': token } };
        const attempts = await Promise.all([
          anybody('POST', `/api/v1/payments/${token}/cancel`),
          anybody('GET', `/api/v1/payments/${token}/details`),
          anybody('POST', `/api/v1/payments/${payment.payment_id}/cancel`, asKey),
          anybody('GET', '/api/v1/payments', asKey),
          merchant.call('POST', `/api/v1/payments/${token}/cancel`),
          merchant.call('GET', `/api/v1/payments/${token}/details`),
        ]);
        expect(attempts.map(({ status }) => status)).toEqual([401, 401, 401, 401, 409, 404]);
        expect(await detailsOf(merchant, payment)).toMatchObject({ status: 'PENDING' });
        await merchant.call('POST', `/api/v1/payments/${payment.payment_id}/cancel`);
        expect(await shownToAnybody(payment)).toMatchObject({ status: 'CANCELLED', amount: '12' });
      },
    );

    rule('payment.amount', 'the amount is kept as it was sent, wherever the payment is shown', async () => {
      const amounts = ['0.000001', '0.10', '1', '20.500000', '999999999999.999999', '100000000000'];
      const payments = await Promise.all(amounts.map((amount) => merchant.created({ amount })));
      expect(payments.map(({ amount }) => amount)).toEqual(amounts);
      const listed = (await merchant.call('GET', '/api/v1/payments')).json<{ payments: Payment[] }>().payments;
      const amountOf = ({ payment_id: id }: Payment) => listed.find(({ payment_id }) => payment_id === id)?.amount;
      expect(payments.map(amountOf)).toEqual(amounts);
      const shown = await Promise.all(payments.map(shownToAnybody));
      expect(shown.map(({ amount }) => amount)).toEqual(amounts);
    });

    rule(
      'payment.merchant_wallet',
      'the wallet is answered with its EIP-55 checksum, however it was spelt',
      async () => {
        const address = newWallet();
        const spellings = [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`];
        const payments = await Promise.all(
          spellings.map((merchant_wallet, index) => merchant.created({ merchant_wallet, amount: `13.${index + 1}` })),
        );
        expect(payments.map(({ merchant_wallet }) => merchant_wallet)).toEqual([address, address, address]);
      },
    );

    rule('payment.description', 'the description is answered in Unicode NFC and otherwise untouched', async () => {
      const texts = ['Cafe\u0301 \u212b', ' two  spaces ', '<b>"&amp;\'</b>\\', '👩‍👩‍👧 שלום', 'x', '😀'.repeat(500)];
      const payments = await Promise.all(
        texts.map((description, index) => merchant.created({ description, amount: `14.${index + 1}` })),
      );
      expect(payments.map(({ description }) => description)).toEqual(texts.map((text) => text.normalize('NFC')));
      const [first] = payments;
      expect(await shownToAnybody(first!)).toMatchObject({ description: 'Café Å' });
    });
  });

  describe('a creation with a conflict', () => {
    rule(
      ['endpoint.rule1.unfinished', 'errors.409', 'errors.body.1'],
      'is 409 while a payment of the same value on the same address is unfinished, and succeeds once it is cancelled',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const open = await merchant.created({ amount: '10.50' });
        const same = [{ amount: '10.50' }, { amount: '10.5' }, { merchant_wallet: merchant.wallet.toLowerCase() }];
        for (const answer of await Promise.all(same.map((body) => merchant.create(body)))) {
          expect(answer.status).toBe(409);
          expect(answer.json()).toEqual({ detail: expect.stringMatching(UNFINISHED), code: 'payment_unfinished' });
        }
        const others = [{ amount: '10.500001' }, { merchant_wallet: newWallet() }];
        const answers = await Promise.all(others.map((body) => merchant.create(body)));
        expect(answers.map(({ status }) => status)).toEqual([201, 201]);
        await merchant.call('POST', `/api/v1/payments/${open.payment_id}/cancel`);
        expect(await merchant.created({ amount: '10.5' })).toMatchObject({ amount: '10.5', status: 'PENDING' });
      },
    );

    rule('endpoint.rule1.unfinished', 'is 409 for all but one of several simultaneous ones', async () => {
      const merchant = await openMerchant(contract.stack);
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => insist(() => merchant.create({ amount: '7' }, `order-${index}`))),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    });

    rule(['errors.409', 'errors.body.1'], "is 409 on another merchant's wallet, whatever the amount", async () => {
      const [owner, other] = await Promise.all([openMerchant(contract.stack), openMerchant(contract.stack)]);
      const { payment_id } = await owner.created({ amount: '5' });
      const refused = await other.create({ merchant_wallet: owner.wallet, amount: '6' });
      expect(refused.status).toBe(409);
      expect(refused.json()).toEqual({
        detail: expect.not.stringMatching(UNFINISHED),
        code: 'wallet_of_another_merchant',
      });
      // The wallet stays the first merchant's after the payment has ended.
      await owner.call('POST', `/api/v1/payments/${payment_id}/cancel`);
      expect(await other.create({ merchant_wallet: owner.wallet.toLowerCase(), amount: '5' })).toMatchObject({
        status: 409,
      });
      expect(await owner.create({ amount: '5' })).toMatchObject({ status: 201 });
    });

    rule(
      ['endpoint.rule1.webhook-first', 'endpoint.rule1.retry', 'errors.409'],
      'is 409 without a webhook, and succeeds with the same key once there is one',
      async () => {
        const merchant = await openMerchant(contract.stack, { webhook: false });
        const refused = await merchant.create({ amount: '3' }, 'order-3');
        expect(refused.status).toBe(409);
        expect(refused.json()).toEqual({ detail: expect.stringMatching(/webhook/i), code: 'webhook_not_configured' });
        const url = `https://${merchant.host}/hooks`;
        expect(await merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url } })).toMatchObject({
          status: 200,
        });
        const answer = await merchant.create({ amount: '3' }, 'order-3');
        expect(answer.status).toBe(201);
        expect(answer.headers).not.toHaveProperty('idempotency-replayed');
      },
    );
  });

  describe('the paths', () => {
    const endpoints = [...protectedEndpoints, { method: 'POST', path: '/api/v1/merchant/rotate-key' }];

    rule(
      ['service.paths', 'versioning.path', 'errors.401', 'errors.404'],
      'of every endpoint begin with /api/v1: there a key is required, and with any other prefix nothing exists',
      async () => {
        const api = apiAt(contract.stack.edge_url);
        const statuses = await fewAtATime(
          endpoints.map(({ method, path }) => () => {
            const prefixes = ['/api/v1', '', '/api', '/v1', '/api/v2', '/API/V1'];
            return Promise.all(
              prefixes.map(async (prefix) => (await api(method, path.replace('/api/v1', prefix))).status),
            );
          }),
        );
        expect(statuses).toEqual(endpoints.map(() => [401, 404, 404, 404, 404, 404]));
      },
    );
  });
}
