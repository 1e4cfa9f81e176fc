import { HttpError } from '@quittance/http/errors.ts';
import { route, type Route } from '@quittance/http/route.ts';
import { KEPT_FOR_EVER, loadAsset } from '../asset.ts';

/** The page's files, read once at start. */
export const assets = {
  script: loadAsset(new URL('assets/checkout.js', import.meta.url)),
  stylesheet: loadAsset(new URL('assets/checkout.css', import.meta.url)),
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
          'cache-control': KEPT_FOR_EVER,
          'x-content-type-options': 'nosniff',
        },
      };
    },
  }),
];
