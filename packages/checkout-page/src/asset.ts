import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A file that one of our pages loads. */
export type Asset = { name: string; contentType: string; bytes: Buffer };

/** Cache-Control of a file whose name holds the hash of its content. */
export const CACHE_IMMUTABLE = 'public, max-age=31536000, immutable';

const contentTypes = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

/** Reads a .js or .css file. Its name gets the hash of its content, so that a browser may cache it without limit. */
export function loadAsset(file: URL | string): Asset {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const [, stem = '', extension] = /([\w-]+)\.(js|css)$/.exec(path) ?? [];
  const bytes = readFileSync(path);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return {
    name: `${stem}.${hash}.${extension}`,
    contentType: contentTypes[extension as keyof typeof contentTypes],
    bytes,
  };
}
