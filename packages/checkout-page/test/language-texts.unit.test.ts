import { describe, expect, test } from '@jest/globals';
import { en } from '../src/languages/en.ts';
import { languages } from '../src/languages.ts';

/** Every text of a language, by where it stands ("paid.title"). */
const textsOf = (texts: object, path = ''): [string, string][] =>
  Object.entries(texts).flatMap(([key, value]: [string, string | object]): [string, string][] =>
    typeof value === 'string' ? [[path + key, value]] : textsOf(value, `${path}${key}.`),
  );

const english = new Map(textsOf(en));
const inEnglish = (path: string) => english.get(path)!;
const translations = languages.filter(({ code }) => code !== 'en');

/** Each text of each language, with the language to name in a failure. */
const everyText = languages.flatMap(({ code, texts }) =>
  textsOf(texts).map(([path, text]) => ({ code, path, text, where: `${code} ${path}: ${text}` })),
);
const where = (texts: typeof everyText) => texts.map((text) => text.where);

const scripts: Record<string, RegExp> = {
  ...Object.fromEntries(languages.map(({ code }) => [code, /\p{Script=Latin}/u])),
  ...{ ru: /\p{Script=Cyrillic}/u, uk: /\p{Script=Cyrillic}/u, ar: /\p{Script=Arabic}/u, fa: /\p{Script=Arabic}/u },
  ...{ hi: /\p{Script=Devanagari}/u, zh: /\p{Script=Han}/u, ur: /\p{Script=Arabic}/u, bn: /\p{Script=Bengali}/u },
  ...{
    th: /\p{Script=Thai}/u,
    ja: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
    ko: /\p{Script=Hangul}/u,
  },
};

describe('the list of languages', () => {
  test('has the twenty-one, English first', () => {
    const codes = languages.map(({ code }) => code);
    expect(codes[0]).toBe('en');
    expect([...codes].sort().join(' ')).toBe('ar bn de en es fa fr hi id it ja ko pl pt ru th tr uk ur vi zh');
  });

  test.each(languages)('knows of $code what the Unicode data says', ({ code, locale, name, direction }) => {
    const data = new Intl.Locale(locale) as Intl.Locale & { getTextInfo(): { direction: string } };
    expect(data.language).toBe(code);
    expect(Intl.NumberFormat.supportedLocalesOf(locale)).toEqual([locale]);
    expect(direction).toBe(data.getTextInfo().direction);
    const ownName = new Intl.DisplayNames(locale, { type: 'language' }).of(code)!;
    expect(name.toLocaleLowerCase(locale)).toContain(ownName.toLocaleLowerCase(locale));
  });
});

describe('each language', () => {
  test('says all that English says', () => {
    for (const { code, texts } of languages) {
      expect([code, ...textsOf(texts).map(([path]) => path)]).toEqual([code, ...english.keys()]);
    }
  });

  test('has a place for each value that English has a place for, and for no other', () => {
    const places = (text: string) => text.match(/\{[^}]*\}/g)?.sort() ?? [];
    for (const { path, text, where } of everyText) {
      expect([where, ...places(text)]).toEqual([where, ...places(inEnglish(path))]);
      expect([where, text.replace(/\{\w+\}/g, '')]).toEqual([where, expect.not.stringMatching(/[{}]/)]);
    }
  });

  test('is plain text: no markup, no stray blanks, nothing invisible', () => {
    const isPlain = (code: string, text: string) =>
      text !== '' &&
      text === text.trim() &&
      text === text.normalize('NFC') &&
      !/[<>&]| {2}|[\t\n\r]/.test(text) &&
      // Of what cannot be seen, French needs its no-break space, and Persian what keeps letters of one word apart.
      !/[\p{C}\p{Z}]/u.test(text.replace(code === 'fr' ? /[ \u00a0]/g : code === 'fa' ? /[ \u200c]/g : / /g, ''));
    expect(where(everyText.filter(({ code, text }) => !isPlain(code, text)))).toEqual([]);
  });

  test('has left nothing in English', () => {
    const alike = new Set(['fr description']);
    const left = everyText.filter(
      ({ code, path, text }) => code !== 'en' && text === inEnglish(path) && !alike.has(`${code} ${path}`),
    );
    expect(where(left)).toEqual([]);
  });

  test('is written in its own script', () => {
    const shareOfScript = (code: string, text: string) => {
      const letters = text.replace(/\{\w+\}/g, '').match(/\p{L}/gu) ?? [];
      return letters.filter((letter) => scripts[code]!.test(letter)).length / letters.length;
    };
    // The others are "QR", "TxID" and "ID".
    expect(where(everyText.filter(({ code, text }) => !(shareOfScript(code, text) >= 0.5)))).toEqual([]);
  });

  test('has its own letters only', () => {
    const foreign: Record<string, RegExp> = {
      ru: /[іїєґ’']/i,
      uk: /[ыэъё]/i,
      ar: /[پچژگکی]/,
      fa: /[كيىة]/,
      zh: /[區塊錢網絡轉帳請這會說貨認]|[,.!?;]/,
    };
    const wrong = everyText.filter(({ code, text }) => foreign[code]?.test(text.replace(/\{\w+\}/g, '')));
    expect(where(wrong)).toEqual([]);
  });

  test('sets colons, semicolons and questions off in French, and only there', () => {
    const marks = /(?<!\u00a0)[:;?!]/;
    const isWrong = (code: string, text: string) => (code === 'fr' ? marks.test(text) : /\s[:;?!]/.test(text));
    expect(where(everyText.filter(({ code, text }) => isWrong(code, text)))).toEqual([]);
  });

  test('ends a sentence where English ends one', () => {
    const isSentence = (text: string) => /[.。।?？؟۔]$/u.test(text) && !/ сек\.$/.test(text);
    const wrong = everyText.filter(
      ({ code, path, text }) =>
        // Thai ends no sentence with a mark.
        code !== 'th' && path !== 'selfRefresh' && isSentence(text) !== isSentence(inEnglish(path)),
    );
    expect(where(wrong)).toEqual([]);
  });

  test('fits where English fits, down to the narrowest screen', () => {
    const isTooLong = (path: string, text: string) =>
      text.length > Math.max(2 * inEnglish(path).length, inEnglish(path).length + 16);
    expect(where(everyText.filter(({ path, text }) => isTooLong(path, text)))).toEqual([]);
    // A line of 320 px holds some 24 letters of a heading. These languages have no blanks, and browsers break their lines anyway.
    const unspaced = ['zh', 'ja', 'th'];
    const hasLongWord = (text: string) => text.split(/[\s/-]/).some((word) => word.length > 24);
    expect(where(everyText.filter(({ code, text }) => !unspaced.includes(code) && hasLongWord(text)))).toEqual([]);
  });

  test('names a button for screen readers by words that can be seen on it', () => {
    for (const { locale, texts } of languages) {
      for (const label of [texts.copyAmount, texts.copyRecipient]) {
        expect(label.toLocaleLowerCase(locale)).toContain(texts.copy.toLocaleLowerCase(locale));
      }
    }
  });

  test('says something else than every other language does', () => {
    const sentences = [...english].filter(([, text]) => text.endsWith('.')).map(([path]) => path);
    expect(sentences.length).toBeGreaterThan(15);
    for (const path of sentences) {
      expect([path, new Set(languages.map(({ texts }) => new Map(textsOf(texts)).get(path))).size]).toEqual([
        path,
        translations.length + 1,
      ]);
    }
  });

  test('tells one answer about a transaction from another', () => {
    for (const { code, texts } of languages)
      expect([code, new Set(Object.values(texts.lookup)).size]).toEqual([code, Object.keys(texts.lookup).length]);
  });

  test('tells one state of a payment from another', () => {
    for (const { code, texts } of languages) {
      const { waiting, over, arrived, frozen, seen, paid, expired, cancelled, notFound, unavailable } = texts;
      const messages = [waiting, over, arrived, frozen, seen, paid, expired, cancelled, notFound, unavailable];
      expect([code, new Set(messages.map(({ title }) => title)).size]).toEqual([code, messages.length]);
      expect([code, new Set(messages.map(({ text }) => text)).size]).toEqual([code, messages.length]);
    }
  });
});
