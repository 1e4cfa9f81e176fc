import { getAddress } from 'ethers';
import fc from 'fast-check';

/** Inputs for properties: valid, nearly valid, and arbitrary ones. */

const oneOf = (characters: string) => fc.constantFrom(...Array.from(characters));

const digits = (minLength: number, maxLength: number) => fc.string({ unit: oneOf('0123456789'), minLength, maxLength });

export const validAmounts = fc
  .tuple(fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,11}$/)), fc.option(digits(1, 6), { nil: undefined }))
  .map((parts) => parts.filter((part) => part !== undefined).join('.'))
  .filter((text) => /[1-9]/.test(text));

/** The text with a few characters removed, doubled or inserted. */
const damaged = (texts: fc.Arbitrary<string>, extra: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(texts, fc.nat(), fc.nat({ max: 2 }), extra).map(([text, place, lost, added]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + added + text.slice(at + lost);
  });

export const amountTexts = fc.oneof(
  validAmounts,
  damaged(validAmounts, fc.constantFrom('', '0', '.', '-', '+', 'e1', ' ', ',', '٣', '\n', '\u0000')),
  fc.tuple(digits(0, 14), digits(0, 8)).map((parts) => parts.join('.')),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.string({ unit: 'binary' }),
);

const checksummed = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
  .filter((address) => !/^0x0{40}$/.test(address));

export const validAddresses = fc.oneof(
  checksummed,
  checksummed.map((address) => address.toLowerCase()),
  checksummed.map((address) => `0x${address.slice(2).toUpperCase()}`),
);

/** Each letter in a random case: almost never valid, but in the right format. */
const miscased = fc
  .tuple(checksummed, fc.array(fc.boolean(), { minLength: 42, maxLength: 42 }))
  .map(([address, upper]) =>
    Array.from(address, (letter, at) =>
      at > 1 && upper[at] === true ? letter.toUpperCase() : letter.toLowerCase(),
    ).join(''),
  );

export const addressTexts = fc.oneof(
  validAddresses,
  miscased,
  damaged(checksummed, fc.constantFrom('', '0', 'f', 'F', 'g', ' ', 'x', '\n')),
  checksummed.map((address) => address.slice(2)),
  checksummed.map((address) => address.replace('0x', '0X')),
  fc.string({ unit: 'binary' }),
);

/** Anything that a JSON string can express, including lone surrogates. */
const codeUnits = fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)), minLength: 1 });

export const validDescriptions = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: 200 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
);

export const descriptionTexts = fc.oneof(
  validDescriptions,
  codeUnits,
  fc
    .tuple(fc.constantFrom('x', '😀', 'é', 'e\u0301', '\u0958'), fc.integer({ min: 249, max: 502 }))
    .map(([text, many]) => text.repeat(many)),
  damaged(
    fc.string({ minLength: 1 }),
    fc.constantFrom('\u0000', '\n', '\u007f', '\u0085', '\u202e', '\u2069', '\ud800', '\u200f', '\u2028'),
  ),
);

/** What an HTTP client can put into a header: no control characters except the tab. */
export const headerTexts = (maxLength: number): fc.Arbitrary<string> => {
  const visible = fc.integer({ min: 0x21, max: 0x7e });
  const any = fc.oneof(visible, fc.integer({ min: 0x80, max: 0xff }), fc.constantFrom(0x09, 0x20));
  const text = (unit: fc.Arbitrary<number>, minLength: number) =>
    fc.string({ unit: unit.map((code) => String.fromCharCode(code)), minLength, maxLength, size: 'max' });
  const plain = fc.string({ unit: oneOf('azAZ09._-'), maxLength, size: 'max' });
  return fc.oneof(text(visible, 1), text(visible, maxLength - 8), text(any, 0), plain, damaged(plain, text(any, 1)));
};

export const limitTexts = fc.oneof(
  fc.integer({ min: -2, max: 103 }).map(String),
  damaged(fc.nat({ max: 100 }).map(String), fc.constantFrom('', ' ', '0', '.0', 'e0', '+', '\n')),
  fc.double().map(String),
  fc.string(),
);

const pad = (number: number, width = 2) => String(number).padStart(width, '0');
const offsets = fc.oneof(
  fc.constant('Z'),
  fc
    .tuple(fc.constantFrom('+', '-'), fc.nat({ max: 23 }), fc.nat({ max: 59 }))
    .map(([sign, h, m]) => `${sign}${pad(h)}:${pad(m)}`),
);
const valid = fc
  .tuple(
    fc.date({ min: new Date('1971-01-01T00:00:00Z'), max: new Date('9998-12-31T00:00:00Z'), noInvalidDate: true }),
    fc.option(digits(1, 9), { nil: undefined }),
    offsets,
  )
  .map(([date, fraction, offset]) => {
    const second = date.toISOString().slice(0, 19);
    return `${second}${fraction === undefined ? '' : `.${fraction}`}${offset}`;
  });

/** Texts, and whether each is a timestamp of RFC 3339. */
export const momentTexts: fc.Arbitrary<[text: string, isMoment: boolean]> = fc.oneof(
  valid.map((text): [string, boolean] => [text, true]),
  valid.map((text): [string, boolean] => [text.slice(0, 10), false]),
  valid.map((text): [string, boolean] => [text.replace('T', ' '), false]),
  valid.map((text): [string, boolean] => [text.replace(/(Z|[+-]\d\d:\d\d)$/, ''), false]),
  valid.map((text): [string, boolean] => [text.replace(/-\d\d-\d\dT/, '-02-30T'), false]),
  valid.map((text): [string, boolean] => [text.replace(/T\d\d/, 'T24'), false]),
  valid.map((text): [string, boolean] => [text.replace(/^\d{4}/, '0000'), false]),
  fc.string().map((text): [string, boolean] => [text, false]),
);

/** Damaged copies of a real cursor, cursors with other contents, and any text. */
export const cursorTexts = (cursor: string): fc.Arbitrary<string> => {
  const inner = Buffer.from(cursor, 'base64url').toString('latin1');
  const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64url');
  return fc.oneof(
    damaged(fc.constant(cursor), fc.string({ maxLength: 3 })),
    damaged(fc.constant(inner), fc.string({ maxLength: 3 })).map(encoded),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((number) => encoded(inner.replace(/\d+/, String(number)))),
    fc.string({ unit: 'binary' }).map(encoded),
    fc.base64String({ maxLength: 700, size: 'max' }),
    fc.string(),
    fc.constant(''),
  );
};
