import { HttpError } from '@quittance/http/errors.ts';
import { route, type Route } from '@quittance/http/route.ts';
import { KEPT_FOR_EVER, loadAsset } from '../asset.ts';
import { fixedContent } from '../compression.ts';

/** The page's files, read once at start. */
export const assets = {
  script: loadAsset(new URL('assets/checkout.js', import.meta.url)),
  stylesheet: loadAsset(new URL('assets/checkout.css', import.meta.url)),
};

/** GET /assets/{name}. A name of an older release is a 404; its page is never cached and asks for the new one. */
export function assetRoutes(): Route[] {
  const files = new Map(
    Object.values(assets).map(({ name, contentType, bytes }) => [
      name,
      fixedContent(bytes, { 'content-type': contentType, 'cache-control': KEPT_FOR_EVER }),
    ]),
  );
  return [
    route({
      method: 'GET',
      path: '/assets/:name',
      handle: (request) => {
        const file = files.get(request.params['name'] ?? '');
        if (file === undefined) throw new HttpError(404, 'Not found');
        return file(request);
      },
    }),
  ];
}
