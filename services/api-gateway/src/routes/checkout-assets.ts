import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import { KEPT_FOR_EVER } from '@quittance/checkout-page/asset.ts';
import { assets } from '@quittance/checkout-page/page-assets.ts';
import { fixedContent } from '../compression.ts';

/**
 * GET /assets/{name}. While a release replaces another, a page of the one may ask a process of the other. It gets the file that is
 * there, not to be kept: without any script it would look for nothing new, and go on inviting to pay after its end.
 */
export function assetRoutes(): Route[] {
  const files = new Map(
    Object.values(assets).map(({ name, contentType, bytes }) => [
      name,
      fixedContent(bytes, { 'content-type': contentType, 'cache-control': KEPT_FOR_EVER }),
    ]),
  );
  const ofOtherReleases = new Map(
    Object.values(assets).map(({ name, contentType, bytes }) => [
      withoutHash(name),
      fixedContent(bytes, { 'content-type': contentType, 'cache-control': 'no-store' }),
    ]),
  );
  return [
    route({
      method: 'GET',
      path: '/assets/:name',
      handle: (request) => {
        const name = pathParameter(request.params, 'name');
        const file = files.get(name) ?? ofOtherReleases.get(withoutHash(name));
        if (file === undefined) throw new HttpError(404, 'Not found');
        return file(request);
      },
    }),
  ];
}

/** "checkout.0123456789abcdef.js" → "checkout.js"; null for a name without a hash. */
const withoutHash = (name: string): string | null =>
  /^(.+)\.[0-9a-f]{16}(\.\w+)$/.exec(name)?.slice(1).join('') ?? null;
