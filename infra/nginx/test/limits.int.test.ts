import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, flood, newClient, startEdge, type Answer, type Call, type Edge } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const token = 'T'.repeat(43);
const status = `/api/v1/payments/${token}`;
const rotation = { path: '/api/v1/merchant/rotate-key', method: 'POST' };

const many = (count: number, path: string, call: Call) => Array.from({ length: count }, () => ({ path, ...call }));

/** A burst and the one request that is always allowed pass at once. Beyond that, only what the elapsed time has added. */
function expectAdmitted(
  { admitted, seconds }: { admitted: number; seconds: number },
  limit: { burst: number; perSecond: number },
): void {
  expect(admitted).toBeGreaterThanOrEqual(limit.burst + 1);
  expect(admitted).toBeLessThanOrEqual(limit.burst + 2 + seconds * limit.perSecond);
}

const valuesOf = ({ rawHeaders }: Answer, name: string): string[] =>
  rawHeaders.filter((_, position) => position % 2 === 1 && rawHeaders[position - 1]?.toLowerCase() === name);

describe('one client', () => {
  test('has a burst of 30 and 10 requests a second for all of the API together', async () => {
    const from = newClient();
    const paths = ['/api/v1/merchant/limits', '/api/v1/payments', '/api/v1/payments/page', '/api/v1/nothing'];
    const calls = Array.from({ length: 120 }, (_, n) => ({
      path: paths[n % paths.length]!,
      method: n % 3 === 0 ? 'POST' : 'GET',
      from,
    }));
    expectAdmitted(await flood(edge, calls), { burst: 30, perSecond: 10 });
  });

  test('has a burst of 20 and 5 a second for public status, however the path and request are spelled', async () => {
    const from = newClient();
    const spellings = [
      { path: status },
      { path: `${status}?a=b` },
      { path: `/api/v1/payments/%54${token.slice(1)}` },
      { path: `${status};a=b` },
      { path: '/api/v1/payments/p%61ge' },
      { path: `http://edge.example${status}` },
      { path: status, method: 'HEAD' },
    ];
    const calls = Array.from({ length: 105 }, (_, n) => ({ ...spellings[n % spellings.length]!, from }));
    expectAdmitted(await flood(edge, calls), { burst: 20, perSecond: 5 });
    // Requests that were refused there did not count here.
    expect((await flood(edge, many(9, '/api/v1/payments/page', { from }))).admitted).toBe(9);
  });

  test.each([
    ['GET', '/api/v1/payments/page?limit=1'],
    ['GET', '/api/v1/payments/export?format=csv'],
    ['GET', '/api/v1/payments'],
    ['POST', '/api/v1/payments'],
    ['GET', `/api/v1/payments/${token}/details`],
    ['POST', status],
  ])('%s %s does not count as public status', async (method, path) => {
    const { admitted } = await flood(edge, many(31, path, { method, from: newClient() }));
    expect(admitted).toBe(31);
  });

  test('has a burst of 3 and 1 a minute for key rotation, however it is spelled', async () => {
    const from = newClient();
    const spellings = [
      rotation.path,
      `${rotation.path}?a=b`,
      `http://edge.example${rotation.path}`,
      `${rotation.path}?`,
    ];
    const calls = Array.from({ length: 12 }, (_, n) => ({ ...rotation, path: spellings[n % spellings.length]!, from }));
    expectAdmitted(await flood(edge, calls), { burst: 3, perSecond: 1 / 60 });
    expect((await ask(edge, '/api/v1/merchant/limits', { from })).status).toBe(200);
    expect((await ask(edge, rotation.path, { from })).status).toBe(200);
    expect((await ask(edge, rotation.path, { ...rotation })).status).toBe(200);
  });

  test('cannot rotate a key after it has used 10 of the burst that the whole API shares', async () => {
    const before = await quickly(async () => {
      const from = newClient();
      const { admitted } = await flood(edge, many(9, '/api/v1/merchant/limits', { from }));
      return [admitted, (await ask(edge, rotation.path, { ...rotation, from })).status];
    });
    expect(before).toEqual([9, 200]);
    const after = await quickly(async () => {
      const from = newClient();
      const { admitted } = await flood(edge, many(22, '/api/v1/merchant/limits', { from }));
      const rotated = await ask(edge, rotation.path, { ...rotation, from });
      const other = await ask(edge, '/api/v1/merchant/limits', { from });
      return [admitted, rotated.status, other.status];
    });
    expect(after).toEqual([22, 429, 200]);
  });

  test.each([
    ['a declared length', {}],
    ['chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('cannot do so then with a body that is too large either, sent with %s', async (_how, headers) => {
    const oversized = { ...rotation, headers, body: 'x'.repeat(70_000) };
    const after = await quickly(async () => {
      const from = newClient();
      const { admitted } = await flood(edge, many(22, '/api/v1/merchant/limits', { from }));
      const rotated = await ask(edge, rotation.path, { ...oversized, from });
      const other = await ask(edge, '/api/v1/merchant/limits', { from });
      return [admitted, rotated.status, other.status];
    });
    expect(after).toEqual([22, 429, 200]);
  });

  test('has the same limits for unknown paths: below /api/ those of the API, elsewhere those of pages', async () => {
    const nowhere = async (paths: string[], call: Call = {}) => {
      const from = newClient();
      const calls = Array.from({ length: 200 }, (_, n) => ({ path: paths[n % paths.length]!, ...call, from }));
      const { answers, seconds } = await flood(edge, calls);
      expect(new Set(answers.map(({ status: code }) => code))).toEqual(new Set([404, 429]));
      return { from, seconds, admitted: answers.filter(({ status: code }) => code === 404).length };
    };
    const api = await nowhere(['/api/v1//payments', '/api/v1', '/api/v2/payments', '/api/v1/./merchant/rotate-key']);
    expectAdmitted(api, { burst: 30, perSecond: 10 });
    expect((await flood(edge, many(51, '/docs', { from: api.from }))).admitted).toBe(51);
    const pages = await nowhere([
      '/index.html',
      '/payments',
      '/API/v1/payments',
      '/docs//',
      '/metrics?/api/',
      '/.nowhere',
    ]);
    expectAdmitted(pages, { burst: 50, perSecond: 20 });
    expect((await flood(edge, many(31, '/api/v1/payments', { from: pages.from }))).admitted).toBe(31);
    // The size of the body makes no difference.
    const large = { method: 'POST', body: 'x'.repeat(70_000) };
    expectAdmitted(await nowhere(['/api/v1//payments', '/api/v2/x'], large), { burst: 30, perSecond: 10 });
  });

  test('has a burst of 50 and 20 a second for pages and assets, separate from the API', async () => {
    const from = newClient();
    const paths = [`/pay/${token}`, '/assets/checkout.js', '/docs', '/docs/', '/openapi.json'];
    const calls = Array.from({ length: 200 }, (_, n) => ({ path: paths[n % paths.length]!, from }));
    expectAdmitted(await flood(edge, calls), { burst: 50, perSecond: 20 });
    expectAdmitted(await flood(edge, many(120, '/api/v1/payments', { from })), { burst: 30, perSecond: 10 });
  });

  test('does not affect another client', async () => {
    const [greedy, modest] = [newClient(), newClient()];
    await flood(edge, many(60, '/api/v1/payments', { from: greedy }));
    expect((await flood(edge, many(31, '/api/v1/payments', { from: modest }))).admitted).toBe(31);
  });
});

describe('a refusal', () => {
  const refusalOf = async (path: string, call: Call = {}): Promise<Answer> => {
    const { answers } = await flood(edge, many(300, path, { ...call, from: newClient() }));
    return answers.find((answer) => answer.status === 429)!;
  };

  test.each([
    ['GET', '/api/v1/payments'] as const,
    ['GET', status] as const,
    [rotation.method, rotation.path] as const,
  ])('of %s %s is 429 in JSON without Retry-After', async (method, path) => {
    const answer = await refusalOf(path, { method });
    expect(JSON.parse(answer.text)).toEqual({ detail: 'Too many requests', code: 'rate_limited' });
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(valuesOf(answer, 'x-request-id')).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(valuesOf(answer, 'cache-control')).toEqual(['no-store']);
  });

  test('of a page is readable for a person', async () => {
    const answer = await refusalOf(`/pay/${token}`, { headers: { 'X-Request-ID': 'mine' } });
    expect(answer.text).toMatch(/^<!doctype html>.*Just a moment.*<\/html>$/);
    expect(answer.text).not.toContain(token);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(valuesOf(answer, 'x-request-id')).toEqual(['mine']);
    expect(valuesOf(answer, 'cache-control')).toEqual(['no-store']);
  });

  test('leaves no line and no path in the log', async () => {
    const before = await edge.log();
    await refusalOf(`${status}?api_key=qk_secret`);
    await refusalOf(`/pay/${token}`);
    expect(await edge.log()).toBe(before);
  });
});

/** Repeats until a run takes less than a second, in which an allowance of 10 requests is not restored. */
async function quickly<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const startedAt = performance.now();
    const result = await run();
    if (performance.now() - startedAt < 1_000) return result;
  }
  throw new Error('this machine is too slow to test a rate');
}
