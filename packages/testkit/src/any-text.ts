import fc from 'fast-check';

const characters = [
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
];

/**
 * Texts of any Unicode characters, including control characters but not half surrogates. fast-check's own (`unit:
 * 'binary'`) first builds a table of a million characters, which takes a second of processor time in each test file.
 */
export const anyText = fc.string({ unit: fc.oneof(...characters).map((point) => String.fromCodePoint(point)) });
