import { describe, expect, test } from '@jest/globals';
import { anyText } from '@quittance/testkit/any-text.ts';
import fc from 'fast-check';
import { chooseLanguage, languages } from '../src/languages.ts';

const chosenBy = (acceptLanguage: string) => chooseLanguage({ acceptLanguage }).code;

describe('the language of a page', () => {
  test.each([
    ['de', 'de'],
    ['DE', 'de'],
    ['pt-BR', 'pt'],
    ['pt-PT', 'pt'],
    ['zh-TW', 'zh'],
    ['zh-Hant', 'zh'],
    ['zh-hans-cn', 'zh'],
    ['in', 'id'],
    ['prs', 'fa'],
    ['ar-u-nu-arab', 'ar'],
  ])('follows ?lang=%s to %s, whatever the browser accepts', (lang, code) => {
    expect(chooseLanguage({ lang, acceptLanguage: 'fr, *;q=0.1' }).code).toBe(code);
    expect(chooseLanguage({ lang }).code).toBe(code);
  });

  test.each(['', 'nl', 'xx', 'german', 'd', 'de_DE', 'de,fr', '*', ' de', '__proto__', 'de\u0000', 'д'.repeat(9999)])(
    'takes ?lang=%j as not given',
    (lang) => {
      expect(chooseLanguage({ lang, acceptLanguage: 'fr' }).code).toBe('fr');
      expect(chooseLanguage({ lang }).code).toBe('en');
    },
  );

  test('is English for a reader who names no language', () => {
    expect(chooseLanguage({}).code).toBe('en');
    expect(chosenBy('')).toBe('en');
  });

  test('can be each of the list, by link and by header', () => {
    for (const language of languages) {
      expect(chooseLanguage({ lang: language.code })).toBe(language);
      expect(chooseLanguage({ acceptLanguage: language.code })).toBe(language);
    }
  });
});

describe('Accept-Language', () => {
  test.each([
    // What browsers send.
    ['en-US,en;q=0.9', 'en'],
    ['de-CH,de;q=0.9,en;q=0.8', 'de'],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
    ['pt-BR,pt;q=0.8,en-US;q=0.5,en;q=0.3', 'pt'],
    ['zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7', 'zh'],
    ['ru-RU,ru;q=0.8,en-US;q=0.5,en;q=0.3', 'ru'],
    // The best that there is, not the first.
    ['nl, sv;q=0.9, de;q=0.4, fr;q=0.5', 'fr'],
    ['en;q=0.1, vi;q=0.001', 'en'],
    ['en;q=0.001, vi', 'vi'],
    ['nl;q=1.000, tr;q=0.999', 'tr'],
    // Of equals the first.
    ['uk, ru', 'uk'],
    ['es;q=0.5,fr;q=0.5', 'es'],
    // A region leads to its language even where the language itself is wanted less.
    ['de;q=0.1, de-AT;q=0.9, fr;q=0.5', 'de'],
    // Any case, any blanks that the grammar allows.
    ['DE-at', 'de'],
    ['\t fr \t; q=0.5 ,  es;Q=0.4', 'fr'],
    // Old names of languages.
    ['in-ID, en;q=0.5', 'id'],
    ['nb, no;q=0.9', 'en'],
    ['iw, tr;q=0.5', 'tr'],
    // Not a language of ours at any price.
    ['nl, sv', 'en'],
    ['fil, deu-x, tlh', 'en'],
  ])('%j leads to %s', (header, code) => {
    expect(chosenBy(header)).toBe(code);
  });

  test.each([
    ['*', 'en'],
    ['*, de;q=0.5', 'en'],
    ['de, *;q=0.5', 'de'],
    ['nl, *;q=0.5, de;q=0.4', 'en'],
    ['en;q=0, *', languages[1]!.code],
    ['de;q=0', 'en'],
    ['de;q=0.000, de', 'en'],
    ['de;q=0, de-CH, tr;q=0.1', 'tr'],
    ['*;q=0', 'en'],
    ['*;q=0, hi;q=0.2', 'hi'],
    ['en;q=0', 'en'],
    ['en;q=0, *;q=0', 'en'],
  ])('any language and refused ones: %j leads to %s', (header, code) => {
    expect(chosenBy(header)).toBe(code);
  });

  test.each([
    'fr;q=5, de',
    'fr;q=1.001, de',
    'fr;q=-1, de',
    'fr;q=, de',
    'fr;q=abc, de',
    'fr;q=0.5555, de;q=0.1',
    'fr;q=.9, de',
    'fr;q=1e0, de',
    'fr;q="1", de',
    'fr;q=0.9;q=1, de',
    'fr;;q=1, de',
    'fr;level=1, de',
    '"fr", de',
    'fr-, de',
    '-fr, de',
    'f, de',
    'fr_FR, de',
    'fr-toolongforasubtag, de',
    'fr*, de',
    '*-fr, de',
    'fr fr, de',
    ',,, ,de',
    '\u0000fr, de',
    'ﬁ, ＦＲ, de',
    '__proto__, constructor, de',
  ])('a part of another form is left out of %j, the others count', (header) => {
    expect(chosenBy(header)).toBe('de');
  });

  test('is read for its first fifty entries only', () => {
    expect(chosenBy(`${'nl,'.repeat(49)}de`)).toBe('de');
    expect(chosenBy(`${'nl,'.repeat(50)}de`)).toBe('en');
  });

  test('no text makes the choice fail', () => {
    const pieces = fc.constantFrom('de', 'fr-CH', '*', ';q=', '0', '0.5', '1', ',', ' ', '-', 'q', '\t', 'ü');
    const headers = fc.oneof(
      anyText,
      fc.array(pieces, { maxLength: 80 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(headers, headers, (acceptLanguage, lang) => {
        expect(languages).toContain(chooseLanguage({ lang, acceptLanguage }));
      }),
    );
  });

  // An answer within the test's time-out is the assertion: a pattern that backtracks would need years for some of these.
  test.each([
    'a,',
    'a',
    '-',
    'a-',
    ' ',
    '\t',
    ';',
    ';q=0.',
    'en;q=0.5',
    'en-',
    '*',
    '*,',
    'q=',
    'en-a1b2c3d4-x-',
    ' ;',
    'a ',
    ',',
  ])('a header of nothing but %j costs no time worth telling', (piece) => {
    for (const length of [8192, 65_536]) {
      const header = piece.repeat(Math.ceil(length / piece.length));
      expect(languages).toContain(chooseLanguage({ acceptLanguage: header }));
      expect(languages).toContain(chooseLanguage({ acceptLanguage: `de;q=0,${header}` }));
      expect(languages).toContain(chooseLanguage({ lang: header }));
    }
  });
});
