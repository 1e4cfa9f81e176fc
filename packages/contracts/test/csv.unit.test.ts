import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withoutFormulas } from '../src/csv.ts';

const blanks = [' ', '\t', '\u00a0', '\u2003', '\u3000', '\u200b', '\u3164', '\u2800', '\ufeff', '\u0000'];
const separators = [',', ';', '\t', '\n', '\r', '\r\n', '\u2028', '\u061b'];
const formulas = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/** The parts of a text that are cells in some locale, as a spreadsheet sees them. */
const lookedAt = (text: string): string[] =>
  text
    .split(/[,;\t\n\v\f\r\u0085\u2028\u2029\u060c\u061b]/)
    .map((piece) => piece.replace(/^[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800"]+/u, ''));

/** As docs/openapi.yaml tells readers to do it: remove one apostrophe at each place. */
const exact = (text: string): string =>
  text.replace(
    /(?<=^|[,;\t\n\v\f\r\u0085\u2028\u2029\u060c\u061b])([\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800"]*)'('*[=+\-@＝＋－＠])/gu,
    '$1$2',
  );

/** Texts of mostly relevant characters. */
const texts = fc
  .array(fc.constantFrom(...blanks, ...separators, ...formulas, "'", '"', '0', 'a', '\ud83c\udf75'), { maxLength: 40 })
  .map((parts) => parts.join(''));

describe('a cell', () => {
  test.each(formulas)('that begins with %s is text', (sign) => {
    expect(withoutFormulas(`${sign}1`)).toBe(`'${sign}1`);
  });

  test.each(blanks.map((blank) => [JSON.stringify(blank), blank]))('that begins with %s and = is text', (_, blank) => {
    expect(withoutFormulas(`${blank}${blank}=1`)).toBe(`${blank}${blank}'=1`);
  });

  test.each(separators.map((separator) => [JSON.stringify(separator), separator]))(
    'that has = after %s is also text in a locale that splits there',
    (_, separator) => {
      expect(withoutFormulas(`Tea${separator}=cmd|'/C calc'!A0`)).toBe(`Tea${separator}'=cmd|'/C calc'!A0`);
      expect(withoutFormulas(`Tea${separator} ""=1`)).toBe(`Tea${separator} ""'=1`);
    },
  );

  test.each([
    ['=1;=2\n@x', "'=1;'=2\n'@x"],
    ["'=1", "''=1"],
    [';"=1"', ';"\'=1"'],
    ['-5', "'-5"],
    ['+49 30 1234', "'+49 30 1234"],
    ['{"a":"b;=1"}', '{"a":"b;\'=1"}'],
  ])('%j becomes %j', (text, safe) => expect(withoutFormulas(text)).toBe(safe));

  test.each([
    '',
    '10.5',
    '0.000000000000000001',
    'pay_019ce84d84ac72f48fc3fe94b288fac1',
    'mer-1=2+3@4',
    '9Z92HF12',
    '00123456',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '2026-03-13T17:45:20.300Z',
    'https://shop.example/?a=1&b=-1;c=2',
    'Tea; black, 100 g - organic',
    "'tea'; it's",
    '{"cart":"-1","note":"a@b.example"}',
  ])('%j stays as it is', (text) => expect(withoutFormulas(text)).toBe(text));

  test('never begins a formula, wherever it is split', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(lookedAt(withoutFormulas(text)).filter((piece) => /^[=+\-@＝＋－＠]/.test(piece))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('can be converted back to the exact text', () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: 'binary' })), (text) => {
        expect(exact(withoutFormulas(text))).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });
});
