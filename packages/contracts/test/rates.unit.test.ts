import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { amountOf, currencies, currencyCodes, ONE, parseRate, priceProblem, rateText } from '../src/rates.ts';

describe('an amount', () => {
  test.each([
    ['49.90', '1.0842', 54_110_000n],
    ['0.01', '0.0000615', 10_000n],
    ['100', '1', 100_000_000n],
    ['1', '0.333333', 340_000n],
    ['1000000000', '999', 999_000_000_000_000_000n],
  ])('of %s at %s is %s millionths', (amount, rate, units) => {
    expect(amountOf({ amount, currency: 'EUR' }, rate)).toBe(units);
  });

  test('is the product, less than a cent too much and never too little', () => {
    const price = fc.tuple(fc.bigInt(1n, 10n ** 11n), fc.constantFrom(0, 1, 2));
    const rate = fc.tuple(fc.bigInt(1n, 10n ** 8n), fc.integer({ min: 0, max: 12 }));
    fc.assert(
      fc.property(price, rate, ([digits, decimals], [rateDigits, rateDecimals]) => {
        const units = amountOf({ amount: textOf(digits, decimals), currency: 'EUR' }, textOf(rateDigits, rateDecimals));
        fc.pre(units !== null);
        // Both sides times 10 to the power of all decimals.
        const scale = 10n ** BigInt(decimals + rateDecimals);
        const product = digits * rateDigits * 1_000_000n;
        expect(units * scale >= product && units * scale - product < 10_000n * scale).toBe(true);
        expect(units % 10_000n).toBe(0n);
      }),
    );
  });

  test('is none beyond the largest amount of a payment', () => {
    expect(amountOf({ amount: '999999999999', currency: 'EUR' }, '1.1')).toBeNull();
  });
});

const textOf = (digits: bigint, decimals: number): string => {
  const padded = digits.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? padded : `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
};

test.each([
  [1n, 3n, '0.333333'],
  [2n, 3n, '0.666667'],
  [10n, 1n, '10'],
  [1n, 18_994n, '0.0000526482'],
  [1_234_567n, 1n, '1234570'],
])('%s / %s is shown as %s', (numerator, denominator, text) => {
  expect(rateText(numerator, denominator)).toBe(text);
  expect(parseRate(text)).not.toBeNull();
});

test.each(['0', '0.0', '', '-1', '1e3', '01', '1.', '.5', '1,5', '1234567890', '0.1234567890123', 'NaN', ' 1'])(
  '%j is no rate',
  (text) => expect(parseRate(text)).toBeNull(),
);

test('one is one', () => expect(parseRate('1')).toBe(ONE));

describe('a price', () => {
  test('may have one unit of the last decimal of each currency, and no smaller part', () => {
    for (const currency of currencyCodes) {
      const smallest = currencies[currency] === 0 ? '1' : '0.01';
      const smaller = currencies[currency] === 0 ? '0.1' : '0.001';
      expect(priceProblem({ amount: smallest, currency })).toBeNull();
      expect(priceProblem({ amount: smaller, currency })).toContain('must have an amount');
    }
  });

  test.each(['0', '0.00', '-1', '1e2', '01', '1.', '1,50', '1234567890123', '', ' 1', 1, null])(
    'of %j is refused',
    (amount) => expect(priceProblem({ amount, currency: 'EUR' })).toContain('must have an amount'),
  );

  test.each(['eur', 'USDT', 'BGN', 'RUB', 'toString', '', 1, undefined])('in %j is refused', (currency) =>
    expect(priceProblem({ amount: '1', currency })).toContain('must have a currency'),
  );

  test('has no other fields', () =>
    expect(priceProblem({ amount: '1', currency: 'EUR', rate: '2' })).toContain('and no others'));
});
