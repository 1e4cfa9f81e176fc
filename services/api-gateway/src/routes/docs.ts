import { HttpError } from '@quittance/http/errors.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';
import { assetFiles, fixedContent } from '../responses/compression.ts';
import { readOpenApi, requireOpenApi } from '../docs/document.ts';
import { docsPage, readDocsAssets } from '../docs/page.ts';

/** Scripts from here only and none written into the page. The library brings its pictures along as data, inside its stylesheet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The API's documentation: the OpenAPI document as JSON, and a page for people. Each is made once, for the first who asks: it takes
 * half of the gateway's start, and 8 MB.
 * @throws Error when docs/openapi.yaml is missing, so that the gateway does not start without it.
 */
export function docsRoutes(): Route[] {
  requireOpenApi();
  let json: FixedContent | null = null;
  let page: DocsPage | null = null;
  return [
    { method: 'GET', path: '/openapi.json', handle: (request) => (json ??= makeJson())(request) },
    { method: 'GET', path: '/docs', handle: (request) => (page ??= makePage()).page(request) },
    { method: 'GET', path: '/docs/', handle: () => ({ status: 308, headers: { location: '/docs' } }) },
    {
      method: 'GET',
      path: '/docs/assets/:name',
      handle: (request) => {
        const file = (page ??= makePage()).files.get(request.params['name'] ?? '');
        if (file === undefined) throw new HttpError(404, 'Not found');
        return file(request);
      },
    },
  ];
}

type FixedContent = ReturnType<typeof fixedContent>;
type DocsPage = ReturnType<typeof makePage>;

const makeJson = (): FixedContent =>
  fixedContent(JSON.stringify(readOpenApi()), {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, max-age=300',
    // Public, and without credentials: tools on other sites may read it. Nothing else here may be.
    'access-control-allow-origin': '*',
  });

function makePage() {
  const assets = readDocsAssets();
  const page = fixedContent(docsPage(readOpenApi(), assets), {
    'content-type': 'text/html; charset=utf-8',
    // It names the assets of this very release.
    'cache-control': 'no-cache',
    'content-security-policy': contentSecurityPolicy,
    'referrer-policy': 'no-referrer',
  });
  return { page, files: assetFiles(assets, CACHE_IMMUTABLE) };
}
