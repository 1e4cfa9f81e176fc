import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect } from '@jest/globals';
import { parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Contract } from '../conformance.test.ts';
import { send } from '../../support/http.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay } from '../../support/paying.ts';
import { untilReceived } from '../../support/receiver.ts';
import { fieldsOf } from '../support/refusals.ts';
import { rule } from '../support/rule.ts';

/** Prices in other money, converted by the local stack's own sources of rates. */
export function extensionsPricesSection(contract: Contract): void {
  describe('extensions: prices in other money', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const priced = (amount: string, currency: string) => ({ amount: undefined, price: { amount, currency } });

    rule('extensions.prices.amount', 'converts exactly, and a replay keeps the rate', async () => {
      const rates = await merchant.call('GET', '/api/v1/rates');
      const { rates: known } = rates.json<{ rates: { currency: string }[] }>();
      expect(known.map(({ currency }) => currency)).toEqual(expect.arrayContaining(['EUR', 'USD', 'JPY']));
      for (const [amount, currency] of [
        ['49.90', 'EUR'],
        ['0.01', 'USD'],
        ['5000', 'JPY'],
      ] as const) {
        const [body, key] = [priced(amount, currency), randomUUID()];
        const payment = await merchant.created(body, key);
        expect(payment).toMatchObject({ price: { amount, currency }, requested_amount: payment.amount });
        expect(payment.amount).toMatch(/^\d+\.\d\d$/);
        expect(parseAmount(payment.amount)).toBe(inCents(amount, payment.rate!.value));
        expect((await merchant.create(body, key)).json<Payment>()).toEqual(payment);
      }
      expect(await merchant.created({ amount: '60.01' })).toMatchObject({ price: null, rate: null });
    });

    rule('extensions.prices.refused', 'names what is wrong with a price', async () => {
      const price = { amount: '49.90', currency: 'EUR' };
      const bodies: [object, string][] = [
        [{ amount: '10', price }, 'price'],
        [{ amount: undefined, price: { ...price, currency: 'XXX' } }, 'price'],
        [{ amount: undefined, price: { ...price, currency: 'eur' } }, 'price'],
        [{ amount: undefined, price: { ...price, amount: '49.905' } }, 'price'],
        [{ amount: undefined, price: { ...price, amount: '0' } }, 'price'],
        [{ amount: undefined, price: { ...price, amount: 49.9 } }, 'price'],
        [{ amount: undefined, price: { amount: '49.90' } }, 'price'],
        [{ amount: undefined, price: null }, 'amount'],
      ];
      for (const [body, field] of bodies) {
        const answer = await merchant.create(body as Record<string, unknown>);
        expect([body, answer.status, fieldsOf(answer)]).toEqual([body, 422, [field]]);
      }
    });

    rule('extensions.prices.paid', 'are told wherever the payment is', async () => {
      const shop = await openMerchant(contract.stack);
      const payment = await createAndPay(contract.stack, shop, priced('12.34', 'CHF'));
      const { price, rate } = payment;
      const [event] = await untilReceived(contract.stack, shop.host);
      expect(event!.body).toMatchObject({ status: 'PAID', expected_amount: payment.amount, price, rate });
      expect((await send('GET', `${payment.payment_url}?lang=en`)).text).toContain('12.34 CHF');
      const day = payment.created_at.slice(0, 10);
      const report = await shop.call('GET', `/api/v1/merchant/report?from=${day}&to=${day}&group=month`);
      expect(report.json<{ totals: object }>().totals).toMatchObject({ paid: 1, paid_prices: { CHF: '12.34' } });
    });
  });
}

/** price × rate, rounded up to cents, in millionths. Independent of the service's arithmetic. */
function inCents(price: string, rate: string): bigint {
  const digits = (text: string) => BigInt(text.replace('.', ''));
  const scale = 10n ** BigInt([price, rate].reduce((sum, text) => sum + (text.split('.')[1]?.length ?? 0), 0));
  const [product, cent] = [digits(price) * digits(rate) * 100n, scale];
  return ((product + cent - 1n) / cent) * 10_000n;
}
