import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';
import { assetFiles, compressed, fixedContent, type FixedContent } from '../compression.ts';
import { requireOpenApi, requireGuide } from './sources.ts';
import { guideDocument, readDocsAssets } from './pages.ts';
import type { Site } from './render.ts';
import { searchContent } from './search.ts';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // A page names the assets of its own release.
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Pages of the guide have no script, and their form goes to this server. */
const guideHeaders = {
  ...pageHeaders,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** Only our scripts load, and none inline. The library's stylesheet contains its images as data. */
const referenceHeaders = {
  ...pageHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const documentHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, max-age=300',
  // Public and without credentials, so tools on other sites may read it. No other page allows that.
  'access-control-allow-origin': '*',
};

/** Pages for programs that read Markdown, such as assistants (llms.txt). */
const textHeaders = { ...documentHeaders, 'content-type': 'text/markdown; charset=utf-8' };

/**
 * The documentation: the guide with its search and as Markdown, the API reference, and the OpenAPI document as JSON. The first request renders it, and the
 * next one again if that failed; most processes never render it.
 * @throws Error if docs/ is missing, so that the gateway does not start without it.
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
    { method: 'GET', path: '/', handle: leadBrowser },
    fixed('/openapi.json'),
    fixed('/llms.txt'),
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

/** A person who opens the bare address wants to know what this is. Programs get what every unknown path answers. */
function leadBrowser({ headers }: RouteRequest): Reply {
  if (!(headers.accept ?? '').includes('text/html')) throw new HttpError(404, 'Not found');
  return { status: 302, headers: { location: '/docs', vary: 'accept' } };
}

type Docs = {
  get(path: string, request: RouteRequest): Promise<Reply>;
  asset(name: string, request: RouteRequest): Promise<Reply>;
  search(request: RouteRequest): Reply;
};

function readyDocs({ pages, documents, texts, links, places }: Site): Docs {
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
    ...Object.entries(texts).map(([path, text]): [string, FixedContent] => [path, fixedContent(text, textHeaders)]),
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

const program = fileURLToPath(new URL('render.ts', import.meta.url));

/**
 * Renders the documentation in a separate process: it takes a second of CPU time, in which the gateway's only thread would answer no request.
 * The process gets none of the gateway's settings. @throws Error with its output if it fails.
 */
export async function makeSite(): Promise<Site> {
  const options = { env: {}, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, [program], options);
  return JSON.parse(stdout) as Site;
}
