import fc from 'fast-check';

const characters = [
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
];

/**
 * Texts of any characters of Unicode, control characters among them, half surrogates not.
 * What fast-check has for it (`unit: 'binary'`) makes a table of a million characters first, a second of processor time in each test file.
 */
export const anyText = fc.string({ unit: fc.oneof(...characters).map((point) => String.fromCodePoint(point)) });
