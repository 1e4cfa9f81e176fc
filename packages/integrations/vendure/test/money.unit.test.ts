import { expect, test } from '@jest/globals';
import type { Payment } from '@quittance/sdk';
import { askedFor, asksFor, paidAmount, type Money } from '../src/money.ts';

const cents: Money = { precision: 2, usdtCurrency: 'USD' };

test.each<[number, string, Money, object]>([
  [1250, 'EUR', cents, { price: { amount: '12.50', currency: 'EUR' } }],
  [5, 'EUR', cents, { price: { amount: '0.05', currency: 'EUR' } }],
  // Yen have no decimals, and Vendure keeps two for every currency.
  [100_050, 'JPY', cents, { price: { amount: '1001', currency: 'JPY' } }],
  [100_049, 'JPY', cents, { price: { amount: '1000', currency: 'JPY' } }],
  [1250, 'USD', cents, { amount: '12.50' }],
  [12_345, 'USD', { precision: 3, usdtCurrency: 'USD' }, { amount: '12.35' }],
  [1250, 'USD', { precision: 2, usdtCurrency: undefined }, { price: { amount: '12.50', currency: 'USD' } }],
])('%d of Vendure in %s is asked for in the decimals of the currency', (amount, currency, money, asked) => {
  expect(askedFor(amount, currency, money)).toEqual(asked);
});

const euros = { price: { amount: '12.50', currency: 'EUR' }, requested_amount: '14.51' } as Payment;
const dollars = { price: null, requested_amount: '12.50' } as Payment;

test('a payment asks for an amount only in the same currency', () => {
  expect(asksFor(euros, askedFor(1250, 'EUR', cents))).toBe(true);
  expect(asksFor(euros, askedFor(1251, 'EUR', cents))).toBe(false);
  expect(asksFor(euros, askedFor(1250, 'GBP', cents))).toBe(false);
  expect(asksFor(dollars, askedFor(1250, 'USD', cents))).toBe(true);
  expect(asksFor(euros, askedFor(1451, 'USD', cents))).toBe(false);
});

test('what is paid is what is due where the payment asked for it, and otherwise what it asked for', () => {
  expect(paidAmount(euros, 1250, 'EUR', cents)).toBe(1250);
  expect(paidAmount(euros, 2500, 'EUR', cents)).toBe(1250);
  expect(paidAmount(dollars, 900, 'USD', cents)).toBe(1250);
  const yen = { price: { amount: '1000', currency: 'JPY' } } as Payment;
  expect(paidAmount(yen, 100_049, 'JPY', cents)).toBe(100_049);
  expect(paidAmount(yen, 200_000, 'JPY', cents)).toBe(100_000);
});

test('a payment in another currency pays nothing', () => {
  expect(paidAmount(euros, 1250, 'GBP', cents)).toBeNull();
  expect(paidAmount(dollars, 1250, 'EUR', cents)).toBeNull();
});
