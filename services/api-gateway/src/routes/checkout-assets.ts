import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';
import { assets } from '@quittance/checkout-page/document.ts';
import { assetFiles } from '../responses/compression.ts';

/**
 * GET /assets/{name}. During a rolling update a page of one release may reach a process of another. It gets that release's file,
 * uncached: without a script the page would not update, and would still ask for a payment that has expired.
 */
export function assetRoutes(): Route[] {
  const files = assetFiles(assets, CACHE_IMMUTABLE);
  const ofOtherReleases = new Map([...assetFiles(assets, 'no-store')].map(([name, file]) => [withoutHash(name), file]));
  return [
    {
      method: 'GET',
      path: '/assets/:name',
      handle: (request) => {
        const name = pathParameter(request.params, 'name');
        const file = files.get(name) ?? ofOtherReleases.get(withoutHash(name));
        if (file === undefined) throw new HttpError(404, 'Not found');
        return file(request);
      },
    },
  ];
}

/** "checkout.0123456789abcdef.js" → "checkout.js"; null for a name without a hash. */
const withoutHash = (name: string): string | null =>
  /^(.+)\.[0-9a-f]{16}(\.\w+)$/.exec(name)?.slice(1).join('') ?? null;
