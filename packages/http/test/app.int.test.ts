import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { currentRequestId } from '@quittance/runtime/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';

import { HttpError } from '../src/errors.ts';
import { startServer, type TestServer } from './server-fixture.ts';

const internalToken = 't'.repeat(32);
let server: TestServer;
let ready: () => Promise<void> = () => Promise.resolve();

class BackendLost extends Error {}

beforeAll(async () => {
  server = await startServer({
    trust: sharedTrust(internalToken),
    ready: () => ready(),
    isUnavailable: (error) => error instanceof BackendLost,
    routes: [
      {
        method: 'GET',
        path: '/echo/:first/:second',
        handle: ({ params, query, path, method }) => ({
          status: 200,
          body: { params, query: [...query], path, method, request_id: currentRequestId() },
        }),
      },
      { method: 'POST', path: '/echo/:first/:second', handle: () => ({ status: 201, body: { created: true } }) },
      { method: 'GET', path: '/items/page', handle: () => ({ status: 200, body: 'page' }) },
      { method: 'GET', path: '/items/:id', handle: () => ({ status: 200, body: 'item' }) },
      { method: 'PUT', path: '/items/:id', handle: () => ({ status: 204 }) },
      { method: 'GET', path: '/bytes', handle: () => ({ status: 200, body: Buffer.from('{"a": 1.50}') }) },
      {
        method: 'GET',
        path: '/page',
        handle: () => ({ status: 200, body: '<p>', headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
      },
      { method: 'GET', path: '/internal/v1/secret', handle: () => ({ status: 200, body: {} }) },
      ...Object.entries({
        limited: new HttpError(429, 'Rate limit exceeded', { 'retry-after': '7' }),
        lost: new BackendLost('no database'),
        broken: new Error('a secret detail'),
        thrown: 'text',
        unserialisable: new HttpError(400, 1n),
      }).map(([name, error]) => ({
        method: 'GET' as const,
        path: `/${name}`,
        handle: () => {
          // A library may throw anything, an Error or not.
          // oxlint-disable-next-line typescript/only-throw-error
          throw error;
        },
      })),
      {
        method: 'GET',
        path: '/bad-header',
        handle: () => ({ status: 200, body: {}, headers: { 'x-bad': 'a\nb' } }),
      },
      { method: 'GET', path: '/circular', handle: () => ({ status: 200, body: { n: 1n } }) },
    ],
  });
});
afterAll(() => server.stop());

const get = (path: string, init: RequestInit = {}) => fetch(server.url + path, init);

/** fetch() normalises a path; this sends it unchanged. */
async function statusOf(path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  httpRequest({ port: server.port, path, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .once('error', reject)
    .end();
  return promise;
}

describe('a route', () => {
  test('gets decoded parameters, the query and the request id', async () => {
    const response = await get('/echo/a%2Fb/%C3%A9?x=1&x=2&y=a+b', { headers: { 'x-request-id': 'abc.DEF_1-2' } });
    expect(await response.json()).toEqual({
      params: { first: 'a/b', second: 'é' },
      query: [
        ['x', '1'],
        ['x', '2'],
        ['y', 'a b'],
      ],
      path: '/echo/a%2Fb/%C3%A9',
      method: 'GET',
      request_id: 'abc.DEF_1-2',
    });
  });

  test('answers an object as JSON in UTF-8, without naming the framework', async () => {
    const { headers } = await get('/echo/a/b');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect([headers.get('x-powered-by'), headers.get('etag')]).toEqual([null, null]);
  });

  test('answers a Buffer byte for byte, as JSON', async () => {
    const response = await get('/bytes');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe('{"a": 1.50}');
  });

  test('may set another content type', async () => {
    expect((await get('/page')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await get('/items/page')).headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('that is more specific wins over the one with a parameter', async () => {
    expect(await (await get('/items/page')).text()).toBe('page');
    expect(await (await get('/items/other')).text()).toBe('item');
  });

  test('answers HEAD like GET, without the body', async () => {
    const response = await get('/bytes', { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '11', '']);
  });
});

describe('404 and 405', () => {
  test.each(['/nothing', '/echo/a', '/echo/a/b/c', '/Items/page', '/items/page/', '//items/page', '/echo/%zz/b', '/%'])(
    '%s is not found',
    async (path) => {
      expect(await statusOf(path)).toBe(404);
    },
  );

  test('404 has a JSON body', async () => {
    const response = await get('/nothing');
    expect(await response.json()).toEqual({ detail: 'Not found', code: 'not_found' });
  });

  test.each([
    ['/echo/a/b', 'DELETE', 'GET, HEAD, POST'],
    ['/items/1', 'POST', 'GET, HEAD, PUT'],
    ['/items/page', 'DELETE', 'GET, HEAD, PUT'],
    ['/bytes', 'OPTIONS', 'GET, HEAD'],
    ['/readyz', 'POST', 'GET, HEAD'],
  ])('%s does not take %s and says what it takes', async (path, method, allow) => {
    const response = await get(path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toEqual({ detail: 'Method not allowed', code: 'method_not_allowed' });
  });
});

describe('errors', () => {
  test.each([
    ['/limited', 429, 'Rate limit exceeded', 'rate_limited'],
    ['/lost', 503, 'Service temporarily unavailable', 'unavailable'],
    ['/broken', 500, 'Internal error', 'internal_error'],
    ['/thrown', 500, 'Internal error', 'internal_error'],
    ['/bad-header', 500, 'Internal error', 'internal_error'],
    ['/circular', 500, 'Internal error', 'internal_error'],
  ])('%s answers %i', async (path, status, detail, code) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ detail, code });
    expect(response.headers.get('x-request-id')).toMatch(/./);
  });

  test("an error's headers are sent", async () => {
    expect((await get('/limited')).headers.get('retry-after')).toBe('7');
  });

  test('an error that cannot be sent is a 500 without a stack', async () => {
    const response = await get('/unserialisable');
    expect([response.status, await response.json()]).toEqual([
      500,
      { detail: 'Internal error', code: 'internal_error' },
    ]);
  });
});

describe('X-Request-ID', () => {
  test.each(['a', 'A-z_0.9', 'x'.repeat(64)])("the caller's %s is kept", async (id) => {
    expect((await get('/nothing', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id);
  });

  test.each(['', 'x'.repeat(65), 'a b', 'a,b', 'é', '<x>', 'a/b'])('%p is replaced by a new one', async (id) => {
    const given = (await get('/nothing', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(given).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('routes under /internal/', () => {
  const secret = (headers: [string, string][]) => get('/internal/v1/secret', { headers });

  test('answer a request with the token', async () => {
    expect((await secret([['x-internal-token', internalToken]])).status).toBe(200);
  });

  test.each<[string, [string, string][]]>([
    ['no token', []],
    ['an empty token', [['x-internal-token', '']]],
    ['another token', [['x-internal-token', 'u'.repeat(32)]]],
    ['a part of the token', [['x-internal-token', internalToken.slice(1)]]],
    [
      'the token twice',
      [
        ['x-internal-token', internalToken],
        ['x-internal-token', internalToken],
      ],
    ],
  ])('refuse %s', async (_what, headers) => {
    const response = await secret(headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ detail: 'Missing or invalid call token', code: 'unauthorized' });
  });

  test('do not reveal to a stranger which of them exist', async () => {
    expect((await get('/internal/v1/nothing')).status).toBe(401);
    expect((await get('/internal/v1/secret', { method: 'POST' })).status).toBe(401);
  });

  test.each([
    '/internal//v1/secret',
    '//internal/v1/secret',
    '/Internal/v1/secret',
    '/%69nternal/v1/secret',
    '/x/../internal/v1/secret',
  ])('are not reached as %s', async (path) => {
    expect([401, 404]).toContain(await statusOf(path));
  });

  test('accept both tokens while one replaces the other, and no third one', async () => {
    const next = 'n'.repeat(32);
    const replacing = await startServer({
      trust: { ...sharedTrust(), sharedTokens: [internalToken, next] },
      routes: [{ method: 'GET', path: '/internal/x', handle: () => ({ status: 200, body: {} }) }],
    });
    const statusWith = async (token: string) =>
      (await fetch(`${replacing.url}/internal/x`, { headers: { 'x-internal-token': token } })).status;
    expect(await statusWith(internalToken)).toBe(200);
    expect(await statusWith(next)).toBe(200);
    expect(await statusWith('u'.repeat(32))).toBe(401);
    expect(await statusWith('')).toBe(401);
    await replacing.stop();
  });

  test('cannot be set up without a token', async () => {
    const open = startServer({
      routes: [{ method: 'GET', path: '/internal/x', handle: () => ({ status: 200 }) }],
    });
    await expect(open).rejects.toThrow('would be public');
  });
});

describe('probes', () => {
  test('/livez answers independently of the backends; /readyz answers 503 when one fails or hangs', async () => {
    expect((await get('/readyz')).status).toBe(200);
    for (const broken of [() => Promise.reject(new Error('no database')), () => new Promise<void>(() => undefined)]) {
      ready = broken;
      expect((await get('/readyz')).status).toBe(503);
      expect((await get('/livez')).status).toBe(200);
    }
    ready = () => Promise.resolve();
    expect((await get('/readyz')).status).toBe(200);
  });

  test('/metrics counts requests by pattern, never by path', async () => {
    await get('/items/a-public-token');
    await get('/some/unknown/path');
    await eventually(async () => {
      const response = await get('/metrics');
      const text = await response.text();
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(text).toMatch(
        /http_request_duration_seconds_count\{.*method="GET",route="\/items\/:id",status="200".*\} \d/,
      );
      expect(text).toMatch(/route="unmatched",status="404"/);
      expect(text).not.toContain('a-public-token');
    });
  });
});
