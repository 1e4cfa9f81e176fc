import { describe, expect, test } from '@jest/globals';
import { exchanges, type Leg, parseRate } from '@quittance/contracts/rates.ts';
import fc from 'fast-check';
import { dayDue, isBusinessDay } from '../src/rates/calendar.ts';
import { judgeLeg, rateOf } from '../src/rates/judge.ts';
import type { KnownRates, Quote } from '../src/rates/rate.sql.ts';

const now = new Date('2026-03-04T12:00:00.000Z');
const rules = { maxAgeSeconds: 300, maxSpreadPercent: 1 };
const scaledOf = (text: string): bigint => parseRate(text)!;

const quote = (source: string, text: string, more: Partial<Quote> = {}): Quote => ({
  ...{ source, currency: 'EUR', text, scaled: scaledOf(text), as_of: now, previous: null },
  ...more,
});
const known = (quotes: Quote[], accepted: [Leg, string, Date?][] = []): KnownRates => ({
  now,
  quotes,
  accepted: new Map(accepted.map(([leg, text, at = now]) => [leg, { scaled: scaledOf(text), at }])),
});
/** The exchanges in their order, with these prices; null for none. */
const prices = (...texts: (string | null)[]): Quote[] =>
  texts.flatMap((text, at) => (text === null ? [] : [quote(exchanges[at]!, text)]));
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

const judged = (state: KnownRates) => {
  const found = judgeLeg('EUR', state, rules);
  return 'reason' in found ? found.reason : [found.scaled, found.quotes.map(({ source }) => source).toSorted()];
};

describe('the price of one USDT', () => {
  test.each([
    ['is the median of three', prices('0.86', '0.861', '0.862'), [scaledOf('0.861'), [...exchanges]]],
    ['is the middle of two', prices('0.86', null, '0.862'), [scaledOf('0.861'), ['bitstamp', 'kraken']]],
    ['leaves out one that is apart', prices('0.86', '4', '0.862'), [scaledOf('0.861'), ['bitstamp', 'kraken']]],
    ['is none with one exchange', prices('0.86'), 'too_few'],
    ['is none with no exchange', [], 'too_few'],
    ['is none if two are apart', prices('0.86', '0.87'), 'too_far_apart'],
    ['is none if all are apart', prices('0.86', '0.87', '0.88'), 'too_far_apart'],
    ['counts exactly the spread as together', prices('0.8', '0.808'), [scaledOf('0.804'), ['bitstamp', 'coinbase']]],
    ['ignores the other currency', prices('0.86', '0.86').map((one) => ({ ...one, currency: 'USD' })), 'too_few'],
    ['ignores the bank', [...prices('0.86'), quote('ecb', '0.86')], 'too_few'],
  ])('%s', (_, quotes, expected) => expect(judged(known(quotes))).toEqual(expected));

  test.each([
    ['of just the greatest age', 300, 'ok'],
    ['a second older', 301, 'too_old'],
  ])('from answers %s is %s', (_, seconds, expected) => {
    const found = judged(known(prices('0.86', '0.86').map((one) => ({ ...one, as_of: secondsAgo(seconds) }))));
    expect(typeof found === 'string' ? found : 'ok').toBe(expected);
  });

  test('is none if only one of the answers is recent', () => {
    const [old, recent] = prices('0.86', '0.86');
    expect(judged(known([{ ...old!, as_of: secondsAgo(301) }, recent!]))).toBe('too_few');
  });

  test('may jump by 20 percent, and further if every exchange of the last day agrees', () => {
    const accepted: [Leg, string][] = [['EUR', '0.5']];
    expect(judged(known(prices('0.6', '0.6', '0.9'), accepted))).toEqual([scaledOf('0.6'), ['bitstamp', 'coinbase']]);
    expect(judged(known(prices('0.61', '0.61', '0.9'), accepted))).toBe('jumped');
    expect(judged(known(prices('0.39', '0.39', '0.9'), accepted))).toBe('jumped');
    expect(judged(known(prices('0.61', '0.61', '0.61'), accepted))).toEqual([scaledOf('0.61'), [...exchanges]]);
    const silent = quote('kraken', '0.5', { as_of: secondsAgo(3_600) });
    expect(judged(known([...prices('0.61', '0.61'), silent], accepted))).toBe('jumped');
    const gone = quote('kraken', '0.5', { as_of: secondsAgo(86_401) });
    expect(judged(known([...prices('0.61', '0.61'), gone], accepted))).toEqual([
      scaledOf('0.61'),
      ['bitstamp', 'coinbase'],
    ]);
  });

  test('may be any after a day without one', () => {
    const accepted: [Leg, string, Date][] = [['EUR', '0.5', secondsAgo(86_401)]];
    expect(judged(known(prices('0.9', '0.9', '0.1'), accepted))).toEqual([scaledOf('0.9'), ['bitstamp', 'coinbase']]);
  });

  test('stays between two exchanges that agree, whatever a third one says', () => {
    const price = fc.bigInt(200_000n, 5_000_000n);
    fc.assert(
      fc.property(price, fc.bigInt(0n, 10_000n), fc.bigInt(1n, 10n ** 12n), fc.nat(2), (low, apart, lie, liar) => {
        const text = (units: bigint) => `${units / 1_000_000n}.${(units % 1_000_000n).toString().padStart(6, '0')}`;
        const high = low + (low * apart) / 1_000_000n;
        const honest = [text(low), text(high)];
        const texts = exchanges.map((_, at) => (at === liar ? text(lie) : honest.pop()!));
        const found = judgeLeg('EUR', known(prices(...texts)), rules);
        if ('reason' in found) throw new Error(found.reason);
        expect(found.scaled >= scaledOf(text(low)) && found.scaled <= scaledOf(text(high))).toBe(true);
      }),
    );
  });
});

describe('the rate of a currency', () => {
  const bank = (currency: string, text: string, day: string, more: Partial<Quote> = {}) =>
    quote('ecb', text, { currency, as_of: new Date(`${day}T14:00:00.000Z`), ...more });
  const token = prices('0.86', '0.86', '0.86');
  const dollars = prices('1', '1', '1').map((one) => ({ ...one, currency: 'USD' }));

  test('goes by way of the euro, and names its sources', () => {
    expect(rateOf('JPY', known([...token, bank('JPY', '178.56', '2026-03-03')]), rules)).toEqual({
      rate: {
        value: '0.00651204',
        as_of: now.toISOString(),
        sources: [
          ...exchanges.map((name) => ({ name, value: '0.86', as_of: now.toISOString() })),
          { name: 'ecb', value: '178.56', as_of: '2026-03-03T14:00:00.000Z' },
        ],
      },
    });
  });

  test('needs no bank for euros and dollars', () => {
    const values = (['EUR', 'USD'] as const).map((currency) => rateOf(currency, known([...token, ...dollars]), rules));
    expect(values.map((found) => 'rate' in found && found.rate.value)).toEqual(['1.16279', '1']);
  });

  test.each([
    ['without a reference rate', [], 'too_few'],
    ['after a missed publication', [bank('GBP', '0.86', '2026-03-02')], 'too_old'],
    ['after a jump', [bank('GBP', '1.1', '2026-03-03', { previous: scaledOf('0.86') })], 'jumped'],
  ])('is none %s', (_, quotes, reason) =>
    expect(rateOf('GBP', known([...token, ...quotes]), rules)).toEqual({ reason }),
  );
});

describe("the bank's calendar", () => {
  test.each([
    ['2026-01-01', false],
    ['2026-04-02', true],
    ['2026-04-03', false],
    ['2026-04-06', false],
    ['2026-04-07', true],
    ['2026-05-01', false],
    ['2026-05-14', true],
    ['2026-12-24', true],
    ['2026-12-25', false],
    ['2026-12-26', false],
    ['2027-03-26', false],
    ['2027-03-29', false],
    ['2028-04-14', false],
    ['2028-04-17', false],
    ['2038-04-26', false],
    ['2026-02-28', false],
    ['2026-03-01', false],
  ])('%s is a business day: %s', (day, expected) => expect(isBusinessDay(new Date(`${day}T12:00:00Z`))).toBe(expected));

  test.each([
    ['before the publication of a Wednesday is late', '2026-03-04T20:59:59.999Z', '2026-03-03'],
    ['once it is late', '2026-03-04T21:00:00.000Z', '2026-03-04'],
    ['on a Saturday', '2026-03-07T12:00:00.000Z', '2026-03-06'],
    ['on a Monday morning', '2026-03-09T09:00:00.000Z', '2026-03-06'],
    ['on Easter Monday', '2026-04-06T22:00:00.000Z', '2026-04-02'],
    ['on the morning after', '2026-04-07T10:00:00.000Z', '2026-04-02'],
    ['on New Year', '2027-01-01T22:00:00.000Z', '2026-12-31'],
  ])('wants, %s, the rates of %s: %s', (_, time, day) => expect(dayDue(new Date(time))).toBe(day));
});
