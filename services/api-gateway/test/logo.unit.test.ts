import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkLogo } from '../src/profile/logo.ts';
import { png, pngChunk, pngEnd, pngHeader, pngPixels, squarePng } from './png.ts';

const header = pngHeader({ width: 2, height: 2 });
const pixels = pngPixels(18);
const text = pngChunk('tEXt', Buffer.from('Author\0Somebody'));

describe('a logo', () => {
  test.each([
    ['of true color with transparency', squarePng(2)],
    ['of 1,024 pixels', squarePng(1024)],
    [
      'in shades of gray, of one bit each',
      png(pngHeader({ width: 9, height: 3, depth: 1, type: 0 }), pngPixels(9), pngEnd),
    ],
    [
      'with a palette',
      png(pngHeader({ width: 2, height: 2, type: 3 }), pngChunk('PLTE', Buffer.alloc(6)), pngPixels(6), pngEnd),
    ],
    // Seven passes: of 1, 0, 1, 2, 2, 4 and 6 pixels in 1, 0, 1, 1, 2, 2 and 2 rows.
    ['interlaced', png(pngHeader({ width: 3, height: 5, type: 0, interlace: 1 }), pngPixels(passes(3, 5)), pngEnd)],
    ['in several pieces', png(header, ...split(pixels), pngEnd)],
  ])('%s is kept as it is', (_what, base64) => {
    expect(checkLogo(base64)).toEqual({ png: Buffer.from(base64, 'base64') });
  });

  test('loses what is not needed to show it: texts, animation, profiles', () => {
    const [animation, profile] = [pngChunk('acTL', Buffer.alloc(8)), pngChunk('iCCP', Buffer.from('x'))];
    const expected = { png: Buffer.from(png(header, pixels, pngEnd), 'base64') };
    expect(checkLogo(png(header, text, animation, profile, pixels, text, pngEnd))).toEqual(expected);
  });

  const complete = { reason: 'must be a complete PNG file' };
  test.each([
    ['empty', '', { reason: 'must be a PNG file in base64' }],
    ['no base64', 'not base64!', { reason: 'must be a PNG file in base64' }],
    ['base64 for URLs', '_-8=', { reason: 'must be a PNG file in base64' }],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64'), complete],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex').toString('base64'), complete],
    [
      'over 32 KiB',
      png(header, pngChunk('tEXt', Buffer.alloc(33_000)), pixels, pngEnd),
      { reason: 'must have at most 32 KiB' },
    ],
    [
      'wider than 1,024',
      png(pngHeader({ width: 1025, height: 1, type: 0 }), pngPixels(1026), pngEnd),
      { reason: 'must have at most 1024 × 1024 pixels' },
    ],
    [
      'of a size that nobody can show',
      png(pngHeader({ width: 0xffffffff, height: 0xffffffff }), pixels, pngEnd),
      { reason: 'must have at most 1024 × 1024 pixels' },
    ],
    ['without pixels', png(header, pngEnd), complete],
    ['with too few pixels', png(header, pngPixels(17), pngEnd), complete],
    ['with more pixels than it says', png(header, pngPixels(1_000_000), pngEnd), complete],
    ['without an end', png(header, pixels), complete],
    ['with something behind its end', png(header, pixels, pngEnd, Buffer.from('<script>')), complete],
    ['with a chunk that readers must know', png(header, pngChunk('ABCD', Buffer.alloc(0)), pixels, pngEnd), complete],
    ['with two headers', png(header, header, pixels, pngEnd), complete],
    ['with a palette of none', png(pngHeader({ width: 2, height: 2, type: 3 }), pngPixels(6), pngEnd), complete],
    [
      'of a bit depth that its colors do not have',
      png(pngHeader({ width: 2, height: 2, depth: 4 }), pixels, pngEnd),
      complete,
    ],
  ])('is refused if it is %s', (_what, base64, expected) => {
    expect(checkLogo(base64)).toEqual(expected);
  });

  test('is refused with any changed byte that it keeps, and any cut', () => {
    const bytes = Buffer.from(squarePng(3), 'base64');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = changed[at]! ^ change;
        expect(checkLogo(changed.toString('base64'))).toEqual({ reason: expect.any(String) });
        expect(checkLogo(bytes.subarray(0, at).toString('base64'))).toEqual({ reason: expect.any(String) });
      }),
    );
  });
});

/** The bytes of an interlaced image of one byte a pixel, counted pixel by pixel. */
function passes(width: number, height: number): number {
  const passOf = (x: number, y: number) =>
    y % 2 === 1 ? 7 : x % 2 === 1 ? 6 : y % 4 === 2 ? 5 : x % 4 === 2 ? 4 : y % 8 === 4 ? 3 : x % 8 === 4 ? 2 : 1;
  const rows = new Set<string>();
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) rows.add(`${passOf(x, y)} ${y}`);
  return width * height + rows.size;
}

function split(chunk: Buffer): Buffer[] {
  const data = chunk.subarray(8, -4);
  return [pngChunk('IDAT', data.subarray(0, 3)), pngChunk('IDAT', data.subarray(3))];
}
