import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exchange, startEdge, type Edge } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge({ answer: (_seen, response) => void response.end('{"from":"gateway"}') });
});
afterAll(() => edge.close());

const rest = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';

/** The error code of each status. */
const codes: Record<number, string> = {
  400: 'bad_request',
  405: 'method_not_allowed',
  414: 'bad_request',
  431: 'headers_too_large',
};

describe('refusals of nginx itself are JSON with a request id, and never 5xx', () => {
  test.each([
    ['a path with an invalid encoding', 400, `GET /api/v1/payments/% ${rest}\r\n`],
    ['bytes that are not HTTP', 400, 'hello\r\n\r\n'],
    ['two lengths', 400, `POST /api/v1/payments ${rest}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    [
      'a length and chunks',
      400,
      `POST /api/v1/payments ${rest}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['an unknown transfer encoding', 400, `POST /api/v1/payments ${rest}Transfer-Encoding: none\r\n\r\n`],
    ['an unknown version', 400, 'GET /api/v1/payments HTTP/3.0\r\nHost: x\r\n\r\n'],
    ['TRACE', 405, `TRACE /api/v1/payments ${rest}\r\n`],
    ['a long path', 414, `GET /api/v1/${'a'.repeat(9000)} ${rest}\r\n`],
    ['a large header', 431, `GET /api/v1/payments ${rest}X-A: ${'a'.repeat(9000)}\r\n\r\n`],
  ])('%s: %i', async (_what, status, bytes) => {
    const answer = await exchange(edge, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/^content-type: application\/json\r$/im);
    expect(answer.match(/^x-request-id: \S+\r$/gim)).toHaveLength(1);
    expect(answer).toMatch(new RegExp(`\r\n\r\n\\{"detail":"[^"]+","code":"${codes[status]}"\\}$`));
    if (status === 405) expect(answer).toMatch(/^allow: /im);
  });

  test.each(['/.refused', '/.headers_too_large', '/internal/v1/merchants', '/metrics', '/index.html'])(
    '%s is not there',
    async (path) => {
      expect(await exchange(edge, `GET ${path} ${rest}\r\n`)).toMatch(
        /^HTTP\/1\.1 404 [\s\S]*\{"detail":"Not found","code":"not_found"\}$/,
      );
    },
  );

  test('everything else reaches the gateway', async () => {
    const answer = await exchange(edge, `GET /api/v1/payments ${rest}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"from":"gateway"\}/);
  });
});

describe('without a gateway', () => {
  const token = 'T'.repeat(43);

  beforeAll(() => edge.closeGateway());

  test.each([
    `/api/v1/payments/${token}?a=b`,
    '/api/v1/merchant/limits?api_key=qk_secret',
    '/api/v1/merchant/rotate-key',
  ])('%s is answered 503 in JSON', async (path) => {
    const answer = await exchange(edge, `GET ${path} ${rest}\r\n`);
    expect(answer).toMatch(
      /^HTTP\/1\.1 503 [\s\S]*\r\n\r\n\{"detail":"Service temporarily unavailable","code":"unavailable"\}$/,
    );
    expect(answer.match(/^cache-control: no-store\r$/gim)).toHaveLength(1);
  });

  test('the checkout page is readable for a person', async () => {
    const answer = await exchange(edge, `GET /pay/${token} ${rest}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*^content-type: text\/html; charset=utf-8\r$[\s\S]*Just a moment/im);
  });

  test('the log names each failure by its id and kind, without path or query', async () => {
    const asked = ['/pay/', '/api/v1/payments/', '/api/v1/merchant/limits?api_key='].map((path, n) => {
      return exchange(edge, `GET ${path}${token} ${rest}X-Request-ID: failure-${n}\r\n\r\n`);
    });
    await Promise.all(asked);
    const log = await edge.log();
    const failures = log.split('\n').filter((line) => line.startsWith('{'));
    const parsed = failures.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const [n, route] of ['page', 'payment', 'api'].entries()) {
      const own = parsed.filter((failure) => failure['request_id'] === `failure-${n}`);
      expect(own).toMatchObject([{ level: 'error', service: 'edge', route, status: 503, upstream_status: '502' }]);
    }
    expect(log).not.toContain(token);
    expect(log).not.toContain('qk_secret');
  });
});
