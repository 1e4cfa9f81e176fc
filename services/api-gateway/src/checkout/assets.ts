import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HttpError } from '@quittance/http/errors.ts';
import { route, type Route } from '@quittance/http/route.ts';

export type Asset = { name: string; contentType: string; bytes: Buffer };

/** The page's files, read once at start. A name holds the hash of its content, so a browser may keep it for ever. */
export const assets = {
  script: load('checkout', 'js', 'text/javascript; charset=utf-8'),
  stylesheet: load('checkout', 'css', 'text/css; charset=utf-8'),
};

/** GET /assets/{name}. A name of an older release is a 404; its page is never cached and asks for the new one. */
export const assetRoutes = (): Route[] => [
  route({
    method: 'GET',
    path: '/assets/:name',
    handle: ({ params }) => {
      const asset = Object.values(assets).find(({ name }) => name === params['name']);
      if (asset === undefined) throw new HttpError(404, 'Not found');
      return {
        status: 200,
        body: asset.bytes,
        headers: {
          'content-type': asset.contentType,
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
        },
      };
    },
  }),
];

function load(stem: string, extension: string, contentType: string): Asset {
  const bytes = readFileSync(new URL(`assets/${stem}.${extension}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `${stem}.${hash}.${extension}`, contentType, bytes };
}
