import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ask, exchange, startEdge, type Edge } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());
beforeEach(() => void (edge.seen.length = 0));

const rest = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

test.each([
  '/api/v1/',
  '/api/v1/payments',
  '/api/v1/payments/page?cursor=a%2Fb&x=//../%2e',
  '/api/v1/payments/a%20b?cursor=%20x',
  '/api/v1/payments/%252e%252e/details',
  '/api/v1/payments/x;y=z',
  '/api/v1/payments/...',
  '/api/v1/payments/a%0Ab',
  '/api/v1/merchant/rotate%2Dkey',
  '/',
  '/?a=b',
  '/pay/token',
  '/assets/checkout.0123.js',
  '/docs',
  '/docs/',
  '/docs/page.js?a=b',
  '/openapi.json',
  '/llms.txt',
])('%s reaches the gateway byte for byte', async (path) => {
  expect((await ask(edge, path)).status).toBe(200);
  expect(edge.seen).toMatchObject([{ url: path }]);
});

describe('paths that are not public', () => {
  const inside = [
    '/internal/v1/merchants',
    '/metrics',
    '/livez',
    '/readyz',
    '/internal',
    '/.refused',
    '/@not_found',
    '/index.html',
  ];
  const lookalikes = [
    '/API/v1/payments',
    '/api/V1/payments',
    '/api/v1',
    '/api/v10/x',
    '/api/v2/payments',
    '/%61pi/v1/payments',
    '/api%2Fv1/payments',
    '/pay',
    '/paywall/x',
    '/docsx',
    '/openapi.jsonx',
    '/openapi.json/x',
    '/llms.txt.bak',
  ];
  const detours = ['/api/v1', '/pay', '/assets', '/docs', '/api/v1/payments/x'].flatMap((prefix) =>
    [
      '/../../../metrics',
      '/../internal/v1/merchants',
      '/..',
      '/../',
      '/./x',
      '/.',
      '/x/..',
      '/..?x',
      '/%2e%2e/%2e%2e/metrics',
      '/%2E%2E/metrics',
      '/.%2e/metrics',
      '/..%2f..%2f..%2finternal',
      '/..%2Fmetrics',
      '/x%2Fy',
      '/..%5c..%5cmetrics',
      '/..\\..\\metrics',
      '//metrics',
      '/x//',
      '/x#y',
      '/x#/../../metrics',
    ].map((detour) => prefix + detour),
  );
  const backwards = [
    '/internal/../api/v1/payments',
    '/internal/v1/merchants/..%2f..%2f..%2fapi%2fv1%2f',
    '/metrics/%2e%2e/api/v1/payments',
    '/metrics?/api/v1/',
    '/metrics#/../api/v1/payments',
    '/metrics;/../api/v1/payments',
    '//api/v1/payments',
    '/./api/v1/payments',
  ];
  // A parser that normalizes paths would read these as key rotation.
  const tidied = [
    '\\rotate-key',
    '\\rotate-key#',
    '/rotate-key#',
    '/rotate-key\u00a0',
    '/rotate-key\u00a0#',
    '//rotate-key',
  ]
    .map((end) => `/api/v1/merchant${end}`)
    .concat([
      '/api/v1/./merchant/rotate-key',
      '/api/v1\\merchant/rotate-key',
      '/api/v1/payments/../merchant/rotate-key',
    ]);

  test.each([...inside, ...lookalikes, ...detours, ...backwards, ...tidied])('%j is 404 or 400 here', async (path) => {
    for (const target of [path, `http://edge.example${path}`]) {
      const answer = await exchange(edge, `GET ${target} ${rest}`);
      expect([400, 404]).toContain(statusOf(answer));
      expect(answer).toMatch(
        /\r\n\r\n\{"detail":"(?:Not found","code":"not_found|Bad request","code":"bad_request)"\}$/,
      );
      expect(answer.match(/^cache-control: no-store\r$/gim)).toHaveLength(1);
    }
    expect(edge.seen).toEqual([]);
  });

  test.each([
    ['a NUL in the path', 'GET /api/v1/payments/\0 '],
    ['an encoded NUL in the path', 'GET /api/v1/payments/a%00 '],
    ['a tab in the path', 'GET /api/v1/payments/a\tb '],
    ['no path', 'GET * '],
    ['another scheme', 'GET file:///api/v1/payments '],
    ['a path above the root', 'GET /../api/v1/payments '],
    ['a method in lower case', 'get /api/v1/payments '],
    ['a tunnel', 'CONNECT gateway:80 '],
    ['a tunnel with a path', 'CONNECT /api/v1/payments '],
  ])('%s is not forwarded', async (_what, line) => {
    const answer = await exchange(edge, line + rest);
    expect([400, 404, 405]).toContain(statusOf(answer));
    expect(edge.seen).toEqual([]);
  });
});

describe('a request that two parsers could read differently is not forwarded', () => {
  const line = 'POST /api/v1/payments HTTP/1.1\r\n';
  test.each([
    ['two hosts', `${line}Host: a\r\nHost: b\r\n\r\n`],
    ['no host', `${line}\r\n`],
    ['a length and chunks', `${line}Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${line}Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    ['a length that is not a number', `${line}Host: x\r\nContent-Length: 1x\r\n\r\n{`],
    ['two transfer encodings', `${line}Host: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a folded header', `${line}Host: x\r\nX-A: b\r\n Transfer-Encoding: chunked\r\n\r\n`],
    ['a space before a colon', `${line}Host: x\r\nTransfer-Encoding : chunked\r\n\r\n`],
    ['a NUL in a header', `${line}Host: x\r\nX-A: \0\r\n\r\n`],
    ['a bare CR in a header', `${line}Host: x\r\nX-A: b\rX-Internal-Token: c\r\n\r\n`],
  ])('%s: 400', async (_what, bytes) => {
    expect(statusOf(await exchange(edge, bytes))).toBe(400);
    expect(edge.seen).toEqual([]);
  });

  test('bare line feeds and HTTP/1.0 are accepted, and the gateway gets a normal request', async () => {
    await exchange(edge, 'GET /api/v1/payments HTTP/1.1\nHost: x\nConnection: close\nX-A: b\n\n');
    await exchange(edge, 'GET /api/v1/payments HTTP/1.0\r\n\r\n');
    expect(edge.seen).toMatchObject([
      { url: '/api/v1/payments', headers: { host: 'x', 'x-a': 'b' } },
      { url: '/api/v1/payments', headers: { host: '_' } },
    ]);
  });

  test('HTTP/0.9, which has no headers, does not reach other paths either', async () => {
    expect(await exchange(edge, 'GET /metrics\r\n')).toBe('{"detail":"Not found","code":"not_found"}');
    expect(edge.seen).toEqual([]);
  });
});

test('headers that the edge sets, and internal ones, are not accepted from outside', async () => {
  const headers = {
    'X-Internal-Token': 'guess',
    X_Internal_Token: 'guess',
    'X-Real-IP': '203.0.113.9',
    Forwarded: 'for=203.0.113.9',
    'X-Body-Too-Large': '1',
  };
  await ask(edge, '/api/v1/payments', { headers });
  const names = Object.keys(edge.seen[0]!.headers);
  expect(names.filter((name) => /internal|real-ip|forwarded$|too-large/.test(name))).toEqual([]);
});

test('a well-formed request id is forwarded and returned once, any other is replaced', async () => {
  const idsFor = async (sent: string) => {
    const { rawHeaders } = await ask(edge, '/api/v1/payments', { headers: { 'X-Request-ID': sent } });
    const back = rawHeaders.filter((_, position) => /^x-request-id$/i.test(rawHeaders[position - 1] ?? ''));
    return { back, given: edge.seen.at(-1)?.headers['x-request-id'] };
  };
  expect(await idsFor('order-7.a_b')).toEqual({ back: ['order-7.a_b'], given: 'order-7.a_b' });
  const { back, given } = await idsFor('a b;c');
  expect(back).toEqual([given]);
  expect(given).toMatch(/^[0-9a-f]{32}$/);
});
