import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Reply } from '@quittance/http/server/route.ts';
import { parse } from 'yaml';
import { readOpenApi } from '../src/docs/sources.ts';
import type { Site } from '../src/docs/render.ts';
import { makeSite, docsRoutes } from '../src/docs/http.ts';
import { fakeRequest, refusal } from './fake-request.ts';

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
const document = parse(readFileSync(`${docs}openapi.yaml`, 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};
const pages = readdirSync(`${docs}guide`)
  .filter((name) => name !== 'README.md')
  .map((name) => `/docs/${name.replace('.md', '')}`);

let site: Site;
let routes: ReturnType<typeof docsRoutes>;
beforeAll(async () => {
  site = await makeSite();
  routes = docsRoutes(() => Promise.resolve(site));
});

type Answer = Reply & { body: Buffer; headers: Record<string, string> };

/** Routes as the server does: to the first route that matches. */
async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  const fits = (path: string) => new RegExp(`^${path.replace(':name', '([^/]+)')}$`).exec(pathname);
  const route = routes.find(({ path }) => fits(path) !== null)!;
  const [, name] = fits(route.path)!;
  const params: Record<string, string> = name === undefined ? {} : { name };
  return (await route.handle({ ...fakeRequest({ headers }), params, query: searchParams })) as Answer;
}

const textOf = async (url: string): Promise<string> => String((await get(url)).body);
const linksOf = (page: string): string[] => [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);

test('the bare address leads a browser to the guide, and is unknown to programs', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  expect(await get('/', browser)).toMatchObject({ status: 302, headers: { location: '/docs' } });
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }])
    await expect(get('/', headers)).rejects.toMatchObject({ status: 404 });
});

describe('GET /openapi.json', () => {
  test('is docs/openapi.yaml, for tools on any site, and may be cached for a while', async () => {
    const { status, body, headers } = await get('/openapi.json');
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual(document);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
    });
  });

  test.each([
    ['gzip, deflate, br', true],
    ['br;q=1.0, gzip;q=0.8', true],
    ['gzip;q=0', false],
    ['deflate, gzip; q=0.0, br', false],
    ['identity', false],
    ['', false],
  ])('to "%s" it goes out compressed: %s', async (accepted, isCompressed) => {
    const { body, headers } = await get('/openapi.json', { 'accept-encoding': accepted });
    expect(headers['vary']).toBe('accept-encoding');
    expect(headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined);
    expect(JSON.parse((isCompressed ? gunzipSync(body) : body).toString())).toEqual(document);
  });

  test('is sent once: a client that has it gets 304', async () => {
    const { etag } = (await get('/openapi.json')).headers;
    const again = await get('/openapi.json', { 'if-none-match': `"other", ${etag}` });
    expect([again.status, again.body, again.headers['etag']]).toEqual([304, undefined, etag]);
    expect((await get('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200);
  });
});

describe('the guide', () => {
  test('has a page for every file of docs/guide, each with links to all others', async () => {
    expect(pages.length).toBeGreaterThan(10);
    for (const path of ['/docs', '/docs/sdk', '/docs/receiving-webhooks', ...pages]) {
      const { status, body } = await get(path);
      const page = body.toString();
      expect([path, status, page.match(/<h1/g)?.length]).toEqual([path, 200, 1]);
      expect(linksOf(page)).toEqual(expect.arrayContaining(['/docs', '/docs/api', ...pages]));
    }
  });

  test('has no broken link, and every fragment exists on its page', async () => {
    const broken: string[] = [];
    for (const path of Object.keys(site.pages).filter((name) => name !== '/docs/api')) {
      const page = await textOf(path);
      for (const link of linksOf(page).filter((url) => !url.startsWith('https:'))) {
        const [target = '', fragment] = link.split('#');
        const found = target === '' ? page : await textOf(target).catch(() => null);
        const leads = found !== null && (fragment === undefined || found.includes(`id="${fragment}"`));
        if (!leads) broken.push(`${path}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('removes only those links whose targets are not on the site', () => {
    const written = readFileSync(`${docs}webhooks.md`, 'utf8');
    expect(written).toContain('](../README.md#see-it-work)');
    expect(site.pages['/docs/receiving-webhooks']).not.toContain('README.md');
    for (const path of ['/docs/going-live', '/docs/sdk']) {
      expect(site.pages[path]).toContain('href="/docs/webhook-signatures.json"');
    }
  });

  test('runs no script, loads only its stylesheet, sends its form nowhere else, and cannot be framed', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/search?q=key']) {
      const { headers, body } = await get(path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect(body.toString()).not.toMatch(/<script|<style|style=|\son\w+=|<img|<iframe/);
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('shows code unchanged, with the name of its file, and HTML in it as text', async () => {
    const page = await textOf('/docs/quick-start');
    expect(page).toContain('<figcaption>shop.mjs</figcaption>');
    expect(page).toContain('-- &lt;payment_url&gt; --wait');
  });

  test('has a redirect from its address with a slash', async () => {
    expect(await get('/docs/')).toMatchObject({ status: 308, headers: { location: '/docs' } });
    expect((await get('/docs/api')).status).toBe(200);
    await expect(refusal(() => get('/docs/nothing'))).resolves.toMatchObject({ status: 404 });
  });
});

describe('the guide as Markdown', () => {
  const markdownLinks = (text: string) => [...text.matchAll(/\]\((\/[^)\s]+)\)/g)].map(([, link = '']) => link);

  test('/llms.txt names every page, and each is there, with links that lead to others', async () => {
    const { status, headers, body } = await get('/llms.txt');
    expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
    const index = body.toString();
    expect(index).toMatch(/^# Quittance\n\n> .+\n\n## Guide\n/);
    const links = markdownLinks(index);
    expect(links).toEqual(
      expect.arrayContaining([...pages.map((path) => `${path}.md`), '/docs/mcp.md', '/openapi.json']),
    );
    const broken: string[] = [];
    for (const page of links.filter((link) => link.endsWith('.md')))
      for (const link of markdownLinks(await textOf(page))) {
        const answer = await get(link.split('#')[0]!).catch(() => null);
        if (answer === null) broken.push(`${page}: ${link}`);
      }
    expect(broken).toEqual([]);
  });

  test('is the text of the file, with code unchanged', async () => {
    const written = readFileSync(`${docs}guide/quick-start.md`, 'utf8');
    const codeOf = (text: string) => [...text.matchAll(/^```.*?^```/gms)].map(([block]) => block);
    expect(codeOf(await textOf('/docs/quick-start.md'))).toEqual(codeOf(written));
  });
});

describe('the search', () => {
  const resultsOf = async (query: string): Promise<string[]> => {
    const page = await textOf(`/docs/search?q=${encodeURIComponent(query)}`);
    return linksOf(/<ol class="results">.*<\/ol>/s.exec(page)?.[0] ?? '');
  };

  test.each([
    ['too late', '/docs/wrong-amounts'],
    ['PAYMENT_UNFINISHED', '/docs/errors'],
    ['five minutes', '/docs/key-rotation#the-signing-key'],
    ['tls_error', '/docs/receiving-webhooks#finding-a-fault'],
    ['quick start', '/docs/quick-start'],
    ['export ndjson', '/docs/api#/Payments/exportPayments'],
  ])('for "%s" finds %s', async (query, path) => {
    expect((await resultsOf(query)).some((link) => link.startsWith(path))).toBe(true);
  });

  test('finds sections with every word, headings first, and says if there are none', async () => {
    expect((await resultsOf('idempotency'))[0]).toBe('/docs/idempotency#idempotency');
    expect(await resultsOf('idempotency zebra')).toEqual([]);
    expect(await textOf('/docs/search?q=idempotency+zebra')).toContain('Nothing has all of these words');
    for (const empty of ['/docs/search', '/docs/search?q=+']) expect((await get(empty)).status).toBe(200);
  });

  test('treats all input as text', async () => {
    for (const typed of ['<script>alert(1)</script>', '"><b>', '(.*', '\\', 'a'.repeat(5_000), '\u0000 ( [ {2} | ^']) {
      const page = await textOf(`/docs/search?q=${encodeURIComponent(typed)}`);
      expect(page).not.toMatch(/<script|<b>/);
      expect(page.length).toBeLessThan(20_000);
    }
    expect(await textOf('/docs/search?q=%3Cpre%3E')).toContain('Search: &lt;pre&gt;');
  });
});

describe('GET /docs/api', () => {
  test('loads only existing files of this server, which may be cached forever', async () => {
    const names = linksOf(await textOf('/docs/api')).filter((url) => !url.startsWith('#'));
    const files = names.filter((url) => url.startsWith('/docs/assets/'));
    expect(names.filter((url) => !files.includes(url))).toEqual(['data:,', '/docs', '/openapi.json', '/openapi.json']);
    expect(files).toHaveLength(4);
    for (const url of files) {
      const asset = await get(url);
      expect(asset.status).toBe(200);
      expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(asset.headers['content-type']).toMatch(url.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      expect(asset.body.length).toBeGreaterThan(100);
    }
  });

  test('runs only scripts in those files, cannot be framed, and sends nothing to other servers', async () => {
    const { headers, body } = await get('/docs/api');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy.join()).not.toMatch(/unsafe|http|\*/);
    expect(body.toString()).not.toMatch(/<script(?! src)|<style|style=|\son\w+=/);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  test('lists every operation for readers without scripts, with a link to the whole document', async () => {
    const text = await textOf('/docs/api');
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) expect(text).toContain(`${method.toUpperCase()} ${path}<`);
    }
    expect(/<noscript>.*<\/noscript>/s.exec(text)?.[0]).toContain('href="/openapi.json"');
  });

  test('has no way to send requests or credentials', async () => {
    const name = /\/docs\/assets\/docs\.[0-9a-f]{16}\.js/.exec(await textOf('/docs/api'))?.[0];
    const script = await textOf(name!);
    expect(script).toContain('supportedSubmitMethods: []');
    expect(script).toContain('validatorUrl: null');
    for (const hidden of ['authorizeBtn', 'authorizeOperationBtn']) expect(script).toContain(`${hidden}: nothing`);
  });

  test('an asset of another release is 404', async () => {
    const error = await refusal(() => get('/docs/assets/docs.0123456789abcdef.js'));
    expect(error.status).toBe(404);
  });
});

test('the documentation is rendered once, by the first request, and again only if that failed', async () => {
  let made = 0;
  routes = docsRoutes(() => {
    made += 1;
    return made === 1 ? Promise.reject(new Error('out of memory')) : Promise.resolve(site);
  });
  await expect(get('/docs')).rejects.toThrow('out of memory');
  const answers = await Promise.all(['/docs', '/openapi.json', '/docs/search?q=key'].map((path) => get(path)));
  expect([made, ...answers.map(({ status }) => status)]).toEqual([2, 200, 200, 200]);
});

test('a missing document prevents the start, with its name', () => {
  expect(() => readOpenApi('/nowhere/openapi.yaml')).toThrow(
    /The OpenAPI document \/nowhere\/openapi\.yaml cannot be read: .*ENOENT/,
  );
});
