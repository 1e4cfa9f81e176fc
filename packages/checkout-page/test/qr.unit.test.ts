import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import jsQr from 'jsqr';
import encodeQr from 'qr';
import { qrCode } from '../src/qr.ts';

const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const LINK = `ethereum:${USDT}@1/transfer?address=${USDT}&uint256=10500000`;

/** Every text that an address or a link could be made of. */
const texts = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 300 });

/** Most bytes that fit versions 1, 2, 3, … with error correction M, from the standard's table of capacities. */
const capacities = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331];

describe('the QR code', () => {
  test.each([USDT, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'tron:TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', LINK])(
    'another program reads %s',
    (text) => expect(read(drawn(text))).toBe(text),
  );

  test('another program reads every text, letter for letter', () => {
    fc.assert(fc.property(texts, (text) => expect(read(drawn(text))).toBe(text)));
  });

  // A reader corrects up to a seventh of the modules, so what it reads does not tell that they are all where they belong.
  test('every module is drawn, and drawn once', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const expected = encodeQr(text, 'raw', { ecc: 'medium', encoding: 'byte', border: 4 });
        expect(drawn(text)).toEqual(expected.map((row) => row.map(Number)));
      }),
      { numRuns: 30 },
    );
  });

  test('is as small as error correction M allows', () => {
    for (const [position, capacity] of capacities.entries()) {
      const size = 17 + 4 * (position + 1) + 2 * 4;
      expect(drawn('a'.repeat(capacity))).toHaveLength(size);
      expect(drawn('a'.repeat(capacity + 1))).toHaveLength(size + 4);
    }
  });

  test('corrects errors at level M', () => {
    // The first two bits of the format, beside the upper left finder; the standard writes M as 00 and inverts the first of them.
    expect(drawn(USDT)[4 + 8]?.slice(4, 4 + 2)).toEqual([1, 0]);
  });

  test('four light modules are around it', () => {
    const modules = drawn(LINK);
    const { length: size } = modules;
    const isInside = (position: number) => position >= 4 && position < size - 4;
    const outside = modules.flatMap((row, y) => row.filter((_, x) => !isInside(x) || !isInside(y)));
    expect(outside).toHaveLength(size ** 2 - (size - 8) ** 2);
    expect(Math.max(...outside)).toBe(0);
    // And not more: three finders stand right at the edge of what is inside.
    const corners = [
      [4, 4],
      [4, size - 5],
      [size - 5, 4],
    ] as const;
    for (const [y, x] of corners) expect(modules[y]?.[x]).toBe(1);
  });

  test('a screen reader says what it is, in words that cannot become markup', () => {
    expect(qrCode(USDT, 'the "code" <b>').html).toContain(' aria-label="the &quot;code&quot; &lt;b&gt;"');
  });
});

const markup =
  /^<svg\s+class="qr"\s+role="img"\s+aria-label="of the address"\s+viewBox="0 0 (\d+) (\d+)"\s+shape-rendering="crispEdges"\s*>\s*<rect width="(\d+)" height="(\d+)" fill="#fff" \/>\s*<path fill="#000" d="([^"]*)" \/>\s*<\/svg>$/;

/** How often each module is painted, by the markup alone. There is nothing in it but what this function knows. */
function drawn(text: string): number[][] {
  const [, size = '', ...rest] = markup.exec(qrCode(text, 'of the address').html) ?? [];
  const path = rest.pop() ?? '';
  expect(rest).toEqual([size, size, size]);
  const modules = Array.from({ length: Number(size) }, () => Array<number>(Number(size)).fill(0));
  const unknown = path.replace(/M(\d+) (\d+)h(\d+)v1h-\3z/g, (_, x, y, width) => {
    for (let at = Number(x); at < Number(x) + Number(width); at += 1) modules[Number(y)]![at]! += 1;
    return '';
  });
  expect(unknown).toBe('');
  return modules;
}

/** What jsQR sees in a picture with three pixels a module. */
function read(modules: number[][]): string | undefined {
  const scale = 3;
  const width = modules.length * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (let pixel = 0; pixel < width * width; pixel += 1) {
    const dark = modules[Math.floor(pixel / width / scale)]?.[Math.floor((pixel % width) / scale)] ?? 0;
    if (dark > 0) pixels.fill(0, pixel * 4, pixel * 4 + 3);
  }
  return jsQr.default(pixels, width, width, { inversionAttempts: 'dontInvert' })?.data;
}
