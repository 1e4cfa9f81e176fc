import { beforeAll, describe, expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { detailsOf, patience, publicStatus, untilStatus } from '../../support/paying.ts';
import { rule } from '../support/rule.ts';

const options = {
  order_id: 'Müller & 茶 №1007/a',
  metadata: { cart: '8f2c', 'shelf.no': 'B-12 "ä"' },
  return_url: 'https://shop.example/orders/1007?from=checkout#thanks',
};

/** Optional fields of a creation beyond the interface document. */
export function extensionsCreationSection(contract: Contract): void {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await openMerchant(contract.stack);
  });
  const wallet = newWallet;
  const listed = async (path: string) => (await merchant.call('GET', path)).json<{ payments: Payment[] }>().payments;

  describe('extensions: the options of a creation', () => {
    rule(
      'extensions.creation.options',
      'are in the 201, the details, the lists and the cancelled payment',
      async () => {
        const payment = await merchant.created({ amount: '12.50', ...options });
        expect(payment).toMatchObject({ ...options, requested_amount: '12.50' });
        expect(await detailsOf(merchant, payment)).toMatchObject(payment);
        const [list, page] = [await listed('/api/v1/payments'), await listed('/api/v1/payments/page')];
        for (const payments of [list, page]) expect(payments).toContainEqual(payment);
        const cancelled = await merchant.call('POST', `/api/v1/payments/${payment.payment_id}/cancel`);
        const { order_id, metadata, return_url, requested_amount, reference } = payment;
        const kept = { order_id, metadata, return_url, requested_amount, reference };
        expect(cancelled.json()).toMatchObject({ ...kept, status: 'CANCELLED' });
      },
    );

    rule(
      'extensions.creation.private',
      'order_id and metadata are neither in the public status nor on the page',
      async () => {
        const secrets = { order_id: `order-${randomUUID()}`, metadata: { note: `note-${randomUUID()}` } };
        const payment = await merchant.created({ amount: '12.51', ...secrets, return_url: options.return_url });
        expect(Object.keys(await publicStatus(contract.stack, payment)).sort()).toEqual([
          ...['amount', 'currency', 'description', 'expires_at', 'merchant_wallet', 'network', 'status'],
        ]);
        const page = await send('GET', payment.payment_url);
        expect(page.status).toBe(200);
        for (const secret of [secrets.order_id, secrets.metadata.note]) expect(page.text).not.toContain(secret);
      },
    );

    rule('extensions.creation.expires-in', 'expires_in decides when the payment expires', async () => {
      const { created_at: created, expires_at: expires } = await merchant.created({ amount: '12.52', expires_in: 900 });
      expect(Date.parse(expires) - Date.parse(created)).toBe(900_000);
    });

    rule('extensions.creation.refused', 'are 422 with their names, all at once', async () => {
      const wrong = {
        order_id: 'a\u200bb',
        metadata: { constructor: 'x' },
        return_url: 'http://shop.example',
        expires_in: 299,
        unique_amount: 'yes',
      };
      const answer = await merchant.create(wrong);
      expect(answer.status).toBe(422);
      const { detail } = answer.json<{ detail: { field: string }[] }>();
      expect(detail.map(({ field }) => field).sort()).toEqual(Object.keys(wrong).sort());
    });

    rule('extensions.creation.visible', 'a description that shows nothing is 422', async () => {
      for (const description of [' ', '\u200b', '\u3164', '\u2800'])
        expect((await merchant.create({ amount: '12.55', description })).status).toBe(422);
    });

    rule('extensions.creation.replay', 'are part of the compared body, where absent equals the default', async () => {
      const [key, other] = [randomUUID(), randomUUID()];
      const plain = await merchant.create({ amount: '12.53' }, key);
      const defaults = { amount: '12.53', metadata: {}, expires_in: 1800, unique_amount: false };
      expect((await merchant.create(defaults, key)).text).toBe(plain.text);
      const said = await merchant.create({ amount: '12.54', ...options }, other);
      const { shelf, ...metadata } = { shelf: options.metadata['shelf.no'], cart: options.metadata.cart };
      const reordered = { ...options, metadata: { 'shelf.no': shelf, ...metadata } };
      expect((await merchant.create({ amount: '12.54', ...reordered }, other)).text).toBe(said.text);
      for (const change of [
        { order_id: 'x' },
        { metadata: { cart: 'x' } },
        { return_url: 'https://x.example' },
        { expires_in: 301 },
      ])
        expect((await merchant.create({ amount: '12.54', ...options, ...change }, other)).status).toBe(409);
    });
  });

  describe('extensions: a unique amount', () => {
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const unique = (price: string, to: string) => ({ amount: price, merchant_wallet: to, unique_amount: true });

    rule(
      'extensions.unique.amount',
      'is different for each of ten simultaneous creations, at most 0.0099 above the price',
      async () => {
        const to = wallet();
        const payments = await Promise.all(Array.from({ length: 10 }, () => merchant.created(unique('49.90', to))));
        expect(new Set(payments.map(({ amount }) => amount)).size).toBe(10);
        for (const { amount, requested_amount: requested } of payments) {
          expect([amount, requested]).toEqual([expect.stringMatching(/^49\.90(0[1-9]|[1-9]\d)$/), '49.90']);
        }
      },
    );

    rule('extensions.unique.bare', 'is 409 while a payment of the bare price waits on the address', async () => {
      const to = wallet();
      const { payment_id: id } = await merchant.created({ amount: '7', merchant_wallet: to });
      expect((await merchant.create(unique('7.00', to))).status).toBe(409);
      await merchant.call('POST', `/api/v1/payments/${id}/cancel`);
      expect((await merchant.create(unique('7.00', to))).status).toBe(201);
    });

    rule('extensions.unique.plain', 'keeps a plain creation of the bare price at 409 while it waits', async () => {
      const to = wallet();
      const { payment_id: id } = await merchant.created(unique('7', to));
      for (const amount of ['7', '7.00']) {
        const answer = await merchant.create({ amount, merchant_wallet: to });
        expect([answer.status, answer.json()]).toMatchObject([409, { code: 'payment_unfinished' }]);
      }
      await merchant.call('POST', `/api/v1/payments/${id}/cancel`);
      expect((await merchant.create({ amount: '7', merchant_wallet: to })).status).toBe(201);
    });

    rule('extensions.unique.rest', 'is not used again soon after its payment ended', async () => {
      const owner = await openMerchant(contract.stack);
      const given = async () => {
        const payments = await Promise.all(Array.from({ length: 14 }, () => owner.created(unique('5', owner.wallet))));
        const cancelled = payments.map(({ payment_id: id }) => owner.call('POST', `/api/v1/payments/${id}/cancel`));
        expect((await Promise.all(cancelled)).map(({ status }) => status)).toEqual(payments.map(() => 200));
        return payments.map(({ amount }) => amount);
      };
      const amounts = [...(await given()), ...(await given())];
      expect(new Set(amounts).size).toBe(amounts.length);
    });

    rule('extensions.unique.decimals', 'needs a price of at most two decimals, else 422', async () => {
      const answer = await merchant.create(unique('7.001', wallet()));
      expect([answer.status, answer.json()]).toMatchObject([422, { detail: [{ field: 'unique_amount' }] }]);
    });

    rule(
      ['extensions.unique.dropped-digits', 'extensions.creation.transaction', 'extensions.money.details'],
      'is paid only by its exact amount; a customer who drops the last digits has paid too little, and pays no other payment',
      async () => {
        const to = wallet();
        const [one, two] = [await merchant.created(unique('3', to)), await merchant.created(unique('3', to))];
        const sent = await payOnChain(contract.stack.chain, to, '3');
        const transactionId = sent.transactionHash.slice(2);
        await eventually(async () => {
          const { status, unmatched_transfers: unmatched } = await detailsOf(merchant, one);
          const short = { transaction_id: transactionId, amount: '3', reason: 'underpaid', candidate_count: 2 };
          expect([status, unmatched]).toMatchObject(['PENDING', [short]]);
        }, patience);
        await payOnChain(contract.stack.chain, to, two.amount);
        await untilStatus(contract.stack, two, 'PAID');
        const { transaction } = await detailsOf(merchant, two);
        expect([Number(transaction!.amount), transaction!.accepted]).toEqual([Number(two.amount), false]);
        expect((await publicStatus(contract.stack, one)).status).toBe('PENDING');
      },
    );
  });
}
