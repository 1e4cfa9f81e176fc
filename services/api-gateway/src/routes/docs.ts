import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';
import { assetFiles, compressed, fixedContent, type FixedContent } from '../responses/compression.ts';
import { requireOpenApi } from '../docs/document.ts';
import { guideDocument } from '../docs/guide-page.ts';
import { requireGuide } from '../docs/guide.ts';
import { readDocsAssets } from '../docs/page.ts';
import type { Site } from '../docs/render.ts';
import { searchContent } from '../docs/search.ts';
import { makeSite } from '../docs/site.ts';

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // It names the assets of this very release.
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Pages of the guide run nothing at all, and their form goes to this server. */
const guideHeaders = {
  ...pageHeaders,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** Scripts from here only and none written into the page. The library brings its pictures along as data, inside its stylesheet. */
const referenceHeaders = {
  ...pageHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const documentHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, max-age=300',
  // Public, and without credentials: tools on other sites may read it. Nothing else here may be.
  'access-control-allow-origin': '*',
};

/**
 * The documentation: the guide with its search, the reference, and the OpenAPI document as JSON. It is made for the first who asks, and
 * again when that failed; most processes are never asked.
 * @throws Error when docs/ is missing, so that the gateway does not start without it.
 */
export function docsRoutes(make: () => Promise<Site> = makeSite): Route[] {
  requireOpenApi();
  requireGuide();
  let made: Promise<Docs> | null = null;
  const docs = (): Promise<Docs> =>
    (made ??= make().then(readyDocs, (error: unknown) => {
      made = null;
      throw error;
    }));
  const fixed = (path: string): Route => ({
    method: 'GET',
    path,
    handle: async (request) => (await docs()).get(path, request),
  });
  return [
    fixed('/openapi.json'),
    fixed('/docs'),
    { method: 'GET', path: '/docs/', handle: () => ({ status: 308, headers: { location: '/docs' } }) },
    { method: 'GET', path: '/docs/search', handle: async (request) => (await docs()).search(request) },
    {
      method: 'GET',
      path: '/docs/assets/:name',
      handle: async (request) => (await docs()).asset(pathParameter(request.params, 'name'), request),
    },
    {
      method: 'GET',
      path: '/docs/:name',
      handle: async (request) => (await docs()).get(`/docs/${pathParameter(request.params, 'name')}`, request),
    },
  ];
}

type Docs = {
  get(path: string, request: RouteRequest): Promise<Reply>;
  asset(name: string, request: RouteRequest): Promise<Reply>;
  search(request: RouteRequest): Reply;
};

function readyDocs({ pages, documents, links, places }: Site): Docs {
  const assets = readDocsAssets();
  const contents = new Map([
    ...Object.entries(pages).map(([path, page]): [string, FixedContent] => [
      path,
      fixedContent(page, path === '/docs/api' ? referenceHeaders : guideHeaders),
    ]),
    ...Object.entries(documents).map(([path, json]): [string, FixedContent] => [
      path,
      fixedContent(json, documentHeaders),
    ]),
  ]);
  const files = assetFiles(assets, CACHE_IMMUTABLE);
  return {
    get: (path, request) => found(contents.get(path))(request),
    asset: (name, request) => found(files.get(name))(request),
    search(request) {
      const query = (request.query.get('q') ?? '').slice(0, 100);
      const frame = { title: 'Search', links, path: null, style: assets.guideStyle.name, query };
      const body = guideDocument(frame, searchContent(places, query));
      return compressed(request, { status: 200, body, headers: { ...guideHeaders, 'x-robots-tag': 'noindex' } });
    },
  };
}

function found(content: FixedContent | undefined): FixedContent {
  if (content === undefined) throw new HttpError(404, 'Not found');
  return content;
}
