import { describe, expect, test } from '@jest/globals';
import { nameSchema, textSchema } from '../src/author.ts';
import { isActorOfOperator } from '../src/principal.ts';
import { checkOfSchema } from '../src/schema.ts';
import { isVisible } from '../src/visible.ts';

/** Characters that are invisible by themselves, by their names in Unicode. */
const blanks = {
  SPACE: ' ',
  'NO-BREAK SPACE': '\u00a0',
  'IDEOGRAPHIC SPACE': '\u3000',
  'SOFT HYPHEN': '\u00ad',
  'COMBINING GRAPHEME JOINER': '\u034f',
  'COMBINING ACUTE ACCENT': '\u0301',
  'HANGUL CHOSEONG FILLER': '\u115f',
  'HANGUL JUNGSEONG FILLER': '\u1160',
  'HANGUL FILLER': '\u3164',
  'HALFWIDTH HANGUL FILLER': '\uffa0',
  'ZERO WIDTH JOINER': '\u200d',
  'INVISIBLE TIMES': '\u2062',
  'BRAILLE PATTERN BLANK': '\u2800',
  'VARIATION SELECTOR-16': '\ufe0f',
  'ZERO WIDTH NO-BREAK SPACE': '\ufeff',
  'TAG LATIN SMALL LETTER A': '\u{e0061}',
  'MUSICAL SYMBOL NULL NOTEHEAD': '\u{1d159}',
  'EGYPTIAN HIEROGLYPH FULL BLANK': '\u{13441}',
};

describe('a name', () => {
  const isName = checkOfSchema<string>(nameSchema(20));
  const isText = checkOfSchema<string>(textSchema(20));

  test.each(Object.entries(blanks))('of only %s is invisible and refused', (_, blank) => {
    for (const text of [blank, blank.repeat(3), ` ${blank} `])
      expect([isVisible(text), isName(text), isText(text)]).toEqual([false, false, true]);
    expect([isVisible(`${blank}x`), isName(`${blank}x`)]).toEqual([true, true]);
  });

  test.each(['x', '1', '.', '€', 'é', 'مقهى', '한', 'ㅎ', '⠁', '🍕', '👩‍🍳', 'e\u0301', 'a\nb'])('is %j', (name) =>
    expect([isVisible(name), isName(name)]).toEqual([true, true]),
  );

  test.each(['', 'x'.repeat(21), 'a\0', 'a\ud800'])('is not %j, which no text may be', (name) =>
    expect([isName(name), isText(name)]).toEqual([false, false]),
  );
});

describe('an actor that looks as if it had signed in', () => {
  test.each([
    '@olga',
    '＠olga',
    '﹫olga',
    '@\u200bolga',
    '\u202eaglo@',
    '\u2067olga',
    ...Object.values(blanks).flatMap((blank) => [`${blank}@olga`, `${blank}${blank}＠olga`]),
  ])('is %j', (actor) => expect(isActorOfOperator(actor)).toBe(true));

  test.each(['olga', 'olga@example.com', 'merchant', '(at) olga', 'operator', '한국'])('is not %j', (actor) =>
    expect(isActorOfOperator(actor)).toBe(false),
  );
});
