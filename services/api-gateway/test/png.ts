import { crc32, deflateSync } from 'node:zlib';

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

/** A chunk of a PNG file, with its checksum. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

type Header = { width: number; height: number; depth?: number; type?: number; interlace?: number };

export function pngHeader({ width, height, depth = 8, type = 6, interlace = 0 }: Header): Buffer {
  const data = Buffer.from([...Array<number>(8).fill(0), depth, type, 0, 0, interlace]);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return pngChunk('IHDR', data);
}

/** @param imageBytes how many there are before compression. */
export const pngPixels = (imageBytes: number): Buffer => pngChunk('IDAT', deflateSync(Buffer.alloc(imageBytes)));

export const pngEnd = pngChunk('IEND', Buffer.alloc(0));

export const png = (...chunks: Buffer[]): string => Buffer.concat([pngSignature, ...chunks]).toString('base64');

/** A transparent image of four bytes a pixel. */
export const squarePng = (side: number): string =>
  png(pngHeader({ width: side, height: side }), pngPixels(side * (1 + 4 * side)), pngEnd);
