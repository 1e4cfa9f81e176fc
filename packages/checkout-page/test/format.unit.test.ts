import { describe, expect, test } from '@jest/globals';
import { AMOUNT_PATTERN } from '@quittance/contracts/amount.ts';
import fc from 'fast-check';
import { fill, formatAmount, formatCountdown, formatNumber, formatUtcTime, groupedAmount } from '../src/format.ts';
import { languages, type Language } from '../src/languages.ts';
import { html } from '../src/html.ts';

const language = (code: string): Language => languages.find((each) => each.code === code)!;

const codes = languages.map(({ code }) => code);

/** Written down here once more, so that what the runtime's data says is held against something. */
const writing: Record<string, { zero: string; decimal: string; shown: string }> = {
  ...Object.fromEntries(
    ['en', 'ar', 'bn', 'hi', 'ja', 'ko', 'th', 'ur', 'zh'].map((code) => [
      code,
      { zero: '0', decimal: '.', shown: '1234567.50' },
    ]),
  ),
  ...Object.fromEntries(
    ['id', 'de', 'es', 'fr', 'it', 'pl', 'pt', 'vi', 'tr', 'ru', 'uk'].map((code) => [
      code,
      { zero: '0', decimal: ',', shown: '1234567,50' },
    ]),
  ),
  fa: { zero: '۰', decimal: '٫', shown: '۱۲۳۴۵۶۷٫۵۰' },
};

const latinDigits = (code: string, text: string) =>
  text.replace(/\p{Nd}/gu, (digit) => String(digit.codePointAt(0)! - writing[code]!.zero.codePointAt(0)!));

/** The contract's text of an amount that a language's reader was shown. */
const readBack = (code: string, shown: string) => latinDigits(code, shown.replace(writing[code]!.decimal, '.'));

const invisible = /[\p{Cf}\p{Cc}]/u;

describe('an amount', () => {
  test.each(languages)('is written in $code as its readers write it', ({ code }) => {
    expect(formatAmount(language(code), '1234567.50')).toBe(writing[code]!.shown);
  });

  test.each([
    ['en', '1234567.50', '1 234 567.50'],
    ['en', '999', '999'],
    ['hi', '1234567.50', '12 34 567.50'],
    ['es', '1234', '1234'],
    ['es', '12345', '12 345'],
    ['fa', '1234567.50', '۱ ۲۳۴ ۵۶۷٫۵۰'],
    ['en', '999999999999.999999 USDT', '999 999 999 999.999999 USDT'],
  ])('is grouped in %s by gaps that are not copied: %s', (code, amount, shown) => {
    const [number = '', currency = ''] = amount.split(/(?= )/);
    const formatted = formatAmount(language(code), number) + currency;
    const { html } = groupedAmount(language(code), formatted);
    expect(html.replaceAll('</span>', ' ').replace(/<[^>]*>/g, '')).toBe(shown);
    expect(html.replace(/<[^>]*>/g, '')).toBe(formatted);
  });

  test('keeps every digit, in every language', () => {
    const telling = fc.constantFrom('0', '0.000000', '0.10', '10.50', '1000', '1234', '999999999999.999999');
    const amounts = fc.oneof(telling, { weight: 9, arbitrary: fc.stringMatching(new RegExp(AMOUNT_PATTERN)) });
    fc.assert(
      fc.property(amounts, fc.constantFrom(...codes), (amount, code) => {
        const shown = formatAmount(language(code), amount);
        expect(readBack(code, shown)).toBe(amount);
        expect(shown).not.toMatch(invisible);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    '',
    '-1',
    '+1',
    '1e3',
    '1.',
    '.5',
    '01',
    '1,5',
    '1 000',
    '١',
    'NaN',
    'Infinity',
    '0x1',
    '1.1234567',
    '1'.repeat(13),
  ])('is never %j', (text) => {
    expect(() => formatAmount(language('en'), text)).toThrow(RangeError);
  });
});

describe('a number', () => {
  test('has the digits of the language', () => {
    expect(formatNumber(language('fa'), 19)).toBe('۱۹');
    for (const code of ['ar', 'hi', 'en']) expect(formatNumber(language(code), 19)).toBe('19');
  });
});

describe('a time', () => {
  test.each([
    ['en', 'Jan 31, 2026, 09:05 UTC'],
    ['de', '31. Jan. 2026, 09:05 UTC'],
    ['ar', '31 يناير 2026، 09:05 UTC'],
    ['fa', '۱۱ بهمن ۱۴۰۴، ۰۹:۰۵ (UTC)'],
    ['zh', '2026年1月31日 UTC 09:05'],
  ])('reads in %s: %s', (code, shown) => {
    expect(formatUtcTime(language(code), '2026-01-31T09:05:59.999Z')).toBe(shown);
  });

  test('says in every language that it is UTC, and counts hours to 24', () => {
    for (const each of languages) {
      const shown = latinDigits(each.code, formatUtcTime(each, '2026-12-01T02:30:00+02:00'));
      expect(shown).toMatch(/\bUTC\b/);
      expect(shown).toMatch(/\b00[:.]30\b/);
      expect(latinDigits(each.code, formatUtcTime(each, '2026-12-01T23:07:00Z'))).toMatch(/\b23[:.]07\b/);
      expect(shown).not.toMatch(invisible);
    }
  });

  test('is not made up from what is no moment', () => {
    expect(() => formatUtcTime(language('en'), 'soon')).toThrow(RangeError);
  });
});

describe('a countdown', () => {
  test.each([
    [0, '00:00'],
    [-5, '00:00'],
    [0.9, '00:00'],
    [59.999, '00:59'],
    [60, '01:00'],
    [1745, '29:05'],
    [3599, '59:59'],
    [3600, '1:00:00'],
    [3605, '1:00:05'],
    [86_400, '24:00:00'],
  ])('of %d seconds is %s', (seconds, shown) => {
    expect(formatCountdown(language('en'), seconds)).toBe(shown);
  });

  test('has the digits of the language and tells every second from the next', () => {
    expect(formatCountdown(language('fa'), 1745)).toBe('۲۹:۰۵');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400 }), fc.constantFrom(...codes), (seconds, code) => {
        const parts = latinDigits(code, formatCountdown(language(code), seconds)).split(':');
        expect(parts.reduce((sum, part) => sum * 60 + Number(part), 0)).toBe(seconds);
        expect(parts.slice(1).every((part) => part.length === 2)).toBe(true);
      }),
    );
  });
});

describe('a text with places', () => {
  test('takes values in any order, and HTML as it is', () => {
    expect(fill('{b} of {a}, {b}', { a: html`<i>1</i>`, b: '2' })).toEqual({ html: '2 of <i>1</i>, 2' });
    expect(fill('as it is', {})).toEqual({ html: 'as it is' });
    expect(fill('{a}', { a: '' })).toEqual({ html: '' });
  });

  test('escapes itself and its values, and takes no place from a value', () => {
    expect(fill('<{a}>', { a: `<b>&"'{a}{b}` })).toEqual({ html: '&lt;&lt;b&gt;&amp;&quot;&#39;{a}{b}&gt;' });
  });

  test.each([
    ['{a}', {}],
    ['{a} {b}', { a: '1' }],
    ['{constructor}', {}],
    ['none', { a: '1' }],
    ['{a}', { a: '1', b: '2' }],
    ['{ a }', { a: '1' }],
  ])('refuses %j with %j', (text, values) => {
    expect(() => fill(text, values as Record<string, string>)).toThrow(/no value|no place/);
  });
});
