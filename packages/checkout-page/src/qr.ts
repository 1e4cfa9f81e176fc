import encodeQr from 'qr';
import { html, type Html } from './html.ts';

/** Light modules around the code. The standard asks for four; with fewer, some scanners do not find it on a dark page. */
const QUIET_ZONE = 4;

/**
 * Draws a text as a QR code: error correction M, the smallest version that holds it, the quiet zone inside the picture.
 * Bytes as they are, because addresses mix upper and lower case and the denser modes know capitals only.
 * Dark on white whatever the page's colours are: many scanners read no inverted code.
 * @param label text for screen readers.
 * @throws Error for a text of more than 2331 bytes.
 */
export function qrCode(text: string, label: string): Html {
  const rows = encodeQr(text, 'raw', { ecc: 'medium', encoding: 'byte', border: QUIET_ZONE });
  const size = String(rows.length);
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path fill="#000" d="${outline(rows)}" />
  </svg>`;
}

/**
 * The dark modules as one path: each run of a row is a rectangle. Filled and not stroked, which would be shorter: Safari leaves light
 * gaps between stroked rows (https://github.com/soldair/node-qrcode/issues/270). Within one filled path, neighbours share their edges
 * without a seam.
 */
const outline = (rows: readonly (readonly boolean[])[]): string =>
  rows
    .flatMap((row, y) => {
      const runs = row.map(Number).join('').matchAll(/1+/g);
      return Array.from(runs, ({ index: x, 0: { length: width } }) => `M${x} ${y}h${width}v1h-${width}z`);
    })
    .join('');
