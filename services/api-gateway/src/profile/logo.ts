import { crc32, inflateSync } from 'node:zlib';
import { LOGO_MAX_BYTES, LOGO_MAX_PIXELS } from '@quittance/contracts/http/api-gateway/merchants.ts';

/*
 * Reads a PNG chunk by chunk and keeps what is needed to show it, so that nothing else is served from our address: no metadata, no
 * animation, nothing behind the image. Source: https://www.w3.org/TR/png-3/
 */

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** Chunks that change how the image looks. All others are dropped, and an unknown critical one is refused. */
const kept = new Set(['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND']);

/** Samples for each pixel, and the bit depths that are allowed, by colour type. */
const colorTypes: Record<number, { samples: number; depths: readonly number[] }> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};

/** Of an interlaced image: first column, first row, and the steps to the next ones. */
const adam7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

type Chunk = { type: string; bytes: Buffer; data: Buffer };

/** The image without everything that is not needed to show it, or why it is refused. */
export type CheckedLogo = { png: Buffer } | { reason: string };

/** @param base64 standard, with padding. */
export function checkLogo(base64: string): CheckedLogo {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== base64) return { reason: 'must be a PNG file in base64' };
  if (bytes.length > LOGO_MAX_BYTES) return { reason: `must have at most ${LOGO_MAX_BYTES / 1024} KiB` };
  const chunks = chunksOf(bytes);
  if (chunks === null) return { reason: 'must be a complete PNG file' };
  const size = sizeOf(chunks);
  if (size === null) return { reason: 'must be a complete PNG file' };
  if (Math.max(size.width, size.height) > LOGO_MAX_PIXELS)
    return { reason: `must have at most ${LOGO_MAX_PIXELS} × ${LOGO_MAX_PIXELS} pixels` };
  if (!hasAllPixels(chunks, size.imageBytes)) return { reason: 'must be a complete PNG file' };
  return {
    png: Buffer.concat([SIGNATURE, ...chunks.filter(({ type }) => kept.has(type)).map((chunk) => chunk.bytes)]),
  };
}

/** Null unless the bytes are chunks with right checksums, in an order that every reader accepts, and nothing else. */
function chunksOf(bytes: Buffer): Chunk[] | null {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return null;
  const chunks: Chunk[] = [];
  let at = SIGNATURE.length;
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length) return null;
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return null;
    // Upper case means that nobody may show the image without knowing the chunk.
    if (/^[A-Z]/.test(type) && !kept.has(type)) return null;
    chunks.push({ type, bytes: bytes.subarray(at, end), data: bytes.subarray(at + 8, end - 4) });
    at = end;
    if (type === 'IEND') break;
  }
  const order = chunks.map(({ type }) => type).filter((type) => kept.has(type));
  const isOrdered = /^IHDR ((gAMA|sRGB) )*(PLTE )?(tRNS )?(IDAT )+IEND$/.test(order.join(' '));
  return isOrdered && at === bytes.length ? chunks : null;
}

/** @returns null for a header that no image has. `imageBytes` is the length of the pixels before compression. */
function sizeOf(chunks: readonly Chunk[]): { width: number; height: number; imageBytes: number } | null {
  const header = chunks[0]?.data;
  if (header?.length !== 13) return null;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, type = 0, compression, filter, interlace = 0] = header.subarray(8);
  const color = colorTypes[type];
  if (width === 0 || height === 0 || compression !== 0 || filter !== 0 || interlace > 1) return null;
  if (color === undefined || !color.depths.includes(depth)) return null;
  if (type === 3 && !chunks.some((chunk) => chunk.type === 'PLTE')) return null;
  // Each row begins with a byte that names its filter.
  const rows = (columns: number, count: number) =>
    columns === 0 ? 0 : count * (1 + Math.ceil((columns * color.samples * depth) / 8));
  const passes = interlace === 0 ? ([[0, 0, 1, 1]] as const) : adam7;
  const lengths = passes.map(([x, y, dx, dy]) =>
    rows(Math.max(0, Math.ceil((width - x) / dx)), Math.max(0, Math.ceil((height - y) / dy))),
  );
  return { width, height, imageBytes: lengths.reduce((sum, length) => sum + length, 0) };
}

/** A small file can hold a large image. It is unpacked only after its size is known, and no further than that. */
function hasAllPixels(chunks: readonly Chunk[], imageBytes: number): boolean {
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  try {
    return inflateSync(packed, { maxOutputLength: imageBytes }).length === imageBytes;
  } catch {
    return false;
  }
}
