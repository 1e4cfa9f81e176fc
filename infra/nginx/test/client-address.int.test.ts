import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, flood, newClient, startEdge, type Answer, type Call, type Edge, type Seen } from './support.ts';

/** Two trusted proxies, the nearer one and one in front of it. The tests' clients have other addresses. */
const proxy = '127.1.0.7';
const fartherProxy = '10.20.30.40';

let edge: Edge;
let open: Edge;

beforeAll(async () => {
  [edge, open] = await Promise.all([
    startEdge({ trustedProxies: ['127.1.0.0/16', '10.20.30.40', '2001:db8:ffff::/48'] }),
    startEdge(),
  ]);
});
afterAll(() => Promise.all([edge.close(), open.close()]));

const seenOf = ({ text }: Answer): Seen => JSON.parse(text) as Seen;

/** Key rotation: each client may send four requests at once, and then none for a minute. */
async function rotations(at: Edge, from: string, forwarded: readonly (string | string[])[]) {
  const call = { path: '/api/v1/merchant/rotate-key', method: 'POST', from };
  return flood(
    at,
    forwarded.map((value) => ({ ...call, headers: { 'X-Forwarded-For': value } })),
  );
}

const numbers = Array.from({ length: 9 }, (_, n) => n + 1);
const atOnce = 4;
const atMost = (seconds: number): number => atOnce + 1 + seconds / 60;

describe('without trusted proxies', () => {
  test('the client is the address that connected, whatever its headers claim', async () => {
    const from = newClient();
    const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Real-IP': '203.0.113.9', Forwarded: 'for=203.0.113.9' };
    const { headers: seen } = seenOf(await ask(open, '/api/v1/payments', { from, headers }));
    expect(seen['x-forwarded-for']).toBe(from);
    expect(seen['x-real-ip']).toBeUndefined();
    expect(seen.forwarded).toBeUndefined();
  });

  test('the scheme is that of the connection', async () => {
    const answer = await ask(open, '/api/v1/payments', { headers: { 'X-Forwarded-Proto': 'https' } });
    expect(seenOf(answer).headers['x-forwarded-proto']).toBe('http');
  });
});

describe('a client that is not a trusted proxy', () => {
  test.each([
    ['with trusted ones configured', () => edge],
    ['with none configured', () => open],
  ])('gains nothing by claiming a new address each time, %s', async (_where, at) => {
    const { admitted, seconds } = await rotations(
      at(),
      newClient(),
      numbers.map((n) => `203.0.113.${n}`),
    );
    expect(admitted).toBeGreaterThanOrEqual(atOnce);
    expect(admitted).toBeLessThanOrEqual(atMost(seconds));
  });

  test('cannot set the scheme either', async () => {
    const answer = await ask(edge, '/api/v1/payments', { headers: { 'X-Forwarded-Proto': 'https' } });
    expect(seenOf(answer).headers['x-forwarded-proto']).toBe('http');
  });
});

describe('behind a trusted proxy', () => {
  const seenBehind = async (forwarded: string | string[], more: Call['headers'] = {}) =>
    seenOf(await ask(edge, '/api/v1/payments', { from: proxy, headers: { 'X-Forwarded-For': forwarded, ...more } }));

  test('each client is counted by itself', async () => {
    const { admitted } = await rotations(
      edge,
      proxy,
      numbers.map((n) => `198.51.100.${n}`),
    );
    expect(admitted).toBe(numbers.length);
  });

  test.each<[string, (n: number) => string | string[]]>([
    ['entries in front', (n) => `198.51.100.${n}, 203.0.113.50`],
    ['its own header', (n) => [`198.51.100.${n}`, '203.0.113.51']],
    ['entries that look like our proxies', (n) => `198.51.100.${n}, 10.20.30.40, 203.0.113.52`],
    ['nonsense', (n) => `nonsense ${n}, , 203.0.113.53`],
  ])('a client that adds %s gains nothing', async (_what, forwarded) => {
    const { admitted, seconds } = await rotations(edge, proxy, numbers.map(forwarded));
    expect(admitted).toBeGreaterThanOrEqual(atOnce);
    expect(admitted).toBeLessThanOrEqual(atMost(seconds));
  });

  test('the gateway gets only the client’s address, without those of our proxies', async () => {
    expect((await seenBehind('203.0.113.60')).headers['x-forwarded-for']).toBe('203.0.113.60');
    const chain = await seenBehind(`198.51.100.1, 203.0.113.61, ${fartherProxy}`);
    expect(chain.headers['x-forwarded-for']).toBe('203.0.113.61');
    const ipv6 = await seenBehind('2001:db8:1::7, 2001:db8:ffff::1');
    expect(ipv6.headers['x-forwarded-for']).toBe('2001:db8:1::7');
  });

  test('the scheme that the proxy sends is forwarded, if it is a valid one', async () => {
    const schemeFor = async (said: string) =>
      (await seenBehind('203.0.113.62', { 'X-Forwarded-Proto': said })).headers['x-forwarded-proto'];
    expect(await schemeFor('https')).toBe('https');
    expect(await schemeFor('http')).toBe('http');
    expect(await schemeFor('gopher')).toBe('http');
    expect(await schemeFor('https, http')).toBe('http');
  });

  test('a client that came by https gets Strict-Transport-Security with every answer, and no other client does', async () => {
    const asked: [path: string, method: string][] = [
      ['/api/v1/payments', 'GET'],
      ['/elsewhere', 'GET'],
      ['/api/v1/payments', 'TRACE'],
    ];
    const beyondTheLimit = Array.from({ length: 40 }, (): [string, string] => ['/api/v1/payments', 'GET']);
    for (const [scheme, policy] of [
      ['https', 'max-age=31536000'],
      ['http', undefined],
    ] as const) {
      const headers = { 'X-Forwarded-For': newClient(), 'X-Forwarded-Proto': scheme };
      const askAll = (requests: typeof asked) =>
        Promise.all(requests.map(([path, method]) => ask(edge, path, { from: proxy, method, headers })));
      // One after the other, so that the limit refuses only what is meant to be refused.
      const answers = [...(await askAll(asked)), ...(await askAll(beyondTheLimit))];
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404, 405, 429]));
      expect(new Set(answers.map((answer) => answer.headers['strict-transport-security']))).toEqual(new Set([policy]));
    }
    const answer = await ask(edge, '/api/v1/payments', { headers: { 'X-Forwarded-Proto': 'https' } });
    expect(answer.headers['strict-transport-security']).toBeUndefined();
  });

  test('a client with many IPv6 addresses is one client by their first 64 bits, and the neighbouring block is another', async () => {
    const addresses = numbers.map((n) => `2001:db8:1:2:${n}00:a${n}:ffff:${n}`);
    const { admitted, seconds } = await rotations(edge, proxy, addresses);
    expect(admitted).toBeGreaterThanOrEqual(atOnce);
    expect(admitted).toBeLessThanOrEqual(atMost(seconds));
    const neighbours = await rotations(
      edge,
      proxy,
      numbers.map((n) => `2001:db8:1:a0${n}::1`),
    );
    expect(neighbours.admitted).toBe(numbers.length);
  });

  test('an IPv4 address is the same client when it is written as an IPv6 one', async () => {
    const { admitted, seconds } = await rotations(
      edge,
      proxy,
      numbers.map((n) => (n % 2 === 0 ? '203.0.113.70' : '::ffff:203.0.113.70')),
    );
    expect(admitted).toBeGreaterThanOrEqual(atOnce);
    expect(admitted).toBeLessThanOrEqual(atMost(seconds));
    const others = await rotations(
      edge,
      proxy,
      numbers.map((n) => `::ffff:203.0.113.8${n}`),
    );
    expect(others.admitted).toBe(numbers.length);
  });
});

test('while no gateway answers, a client that came by https also gets Strict-Transport-Security', async () => {
  edge.closeGateway();
  const headers = { 'X-Forwarded-For': newClient(), 'X-Forwarded-Proto': 'https' };
  for (const path of ['/api/v1/payments', `/pay/${'t'.repeat(43)}`]) {
    const answer = await ask(edge, path, { from: proxy, headers });
    expect([answer.status, answer.headers['strict-transport-security']]).toEqual([503, 'max-age=31536000']);
  }
});
