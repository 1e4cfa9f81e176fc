import { Agent, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ask, exchange, flood, newClient, open, startEdge, type Edge, type Seen } from './support.ts';

let edge: Edge;

// Answers like the gateway: checks the key first, then the size.
beforeAll(async () => {
  edge = await startEdge({
    answer: ({ headers }, response) => {
      const status = headers['x-api-key'] !== 'good' ? 401 : headers['x-body-too-large'] === undefined ? 200 : 413;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(`{"detail":"${status}"}`);
    },
  });
});
afterAll(() => edge.close());
beforeEach(() => void (edge.seen.length = 0));

const path = '/api/v1/payments';
const chunked = { 'Transfer-Encoding': 'chunked' };
const good = { 'X-API-Key': 'good' };
const megabyte = 1 << 20;

const [declared, streamed]: Record<string, string>[] = [{}, chunked];

describe.each([
  ['a declared length', declared!],
  ['chunks', streamed!],
])('a body far beyond the limit, sent with %s', (_how, framing) => {
  const send = (method: string, key: Record<string, string>, size = megabyte) =>
    ask(edge, path, { method, headers: { ...framing, ...key }, body: 'x'.repeat(size) });

  test.each(['POST', 'PUT', 'DELETE'])(
    'reaches the gateway as a %s without a body, with a marking header',
    async (method) => {
      const answer = await send(method, good);
      expect([answer.status, answer.text]).toEqual([413, '{"detail":"413"}']);
      expect(edge.seen).toHaveLength(1);
      const [{ headers, ...seen }] = edge.seen as [Seen];
      expect(seen).toEqual({ method, url: path, bytes: 0 });
      expect(headers).toMatchObject({ 'x-body-too-large': '1', 'x-request-id': answer.headers['x-request-id'] });
      expect(headers['transfer-encoding']).toBeUndefined();
      expect(headers['content-length']).toBe('0');
    },
  );

  test('with a wrong key is refused for the key', async () => {
    expect((await send('POST', { 'X-API-Key': 'bad' })).status).toBe(401);
  });

  test('begins at a size that the gateway could not refuse itself', async () => {
    expect((await send('POST', good, 65_537)).status).toBe(200);
    expect(edge.seen).toMatchObject([{ bytes: 65_537 }]);
    expect((await send('POST', good, 70_000)).status).toBe(413);
  });

  test('does not affect the connections before and after it', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statuses: number[] = [];
    for (const size of [10, megabyte, 10, 10, 70_000, 10]) statuses.push(await sendBy(agent, framing, size));
    agent.destroy();
    expect(statuses).toEqual([200, 413, 200, 200, 413, 200]);
    expect(edge.seen.map(({ bytes }) => bytes)).toEqual([10, 0, 10, 10, 0, 10]);
  });

  test('to an unknown path is 404, and does not reach the gateway', async () => {
    for (const elsewhere of ['/internal/v1/merchants', '/metrics', '/api/v1/../../internal/v1/merchants']) {
      const answer = await ask(edge, elsewhere, { method: 'POST', headers: framing, body: 'x'.repeat(megabyte) });
      expect([answer.status, answer.text]).toEqual([404, '{"detail":"Not found","code":"not_found"}']);
    }
    expect(edge.seen).toEqual([]);
  });

  test('counts towards the limits like any other request', async () => {
    const from = newClient();
    const call = { path: '/api/v1/merchant/rotate-key', method: 'POST', headers: { ...framing, ...good }, from };
    const body = 'x'.repeat(70_000);
    const { answers } = await flood(
      edge,
      Array.from({ length: 10 }, () => ({ ...call, body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([413, 413, 413, 413, 429, 429, 429, 429, 429, 429]);
    expect(answers.find(({ status }) => status === 429)?.text).toBe(
      '{"detail":"Too many requests","code":"rate_limited"}',
    );
  });
});

test('a client that waits for 100 Continue before a large body gets the answer instead', async () => {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nX-API-Key: bad\r\nContent-Length: ${megabyte}\r\n`;
  const socket = open(edge, `${head}\r\n`);
  const { promise: first, resolve } = Promise.withResolvers<Buffer>();
  socket.once('data', resolve);
  expect((await first).toString()).toMatch(/^HTTP\/1\.1 401 /);
  socket.destroy();
});

test('only the edge can set the marking header', async () => {
  const headers = { ...good, 'X-Body-Too-Large': '1' };
  expect((await ask(edge, path, { method: 'POST', headers, body: '{}' })).status).toBe(200);
  expect(edge.seen[0]?.headers['x-body-too-large']).toBeUndefined();
});

test('without a gateway a body that is too large is 503, like everything else', async () => {
  const alone = await startEdge();
  alone.closeGateway();
  try {
    const body = 'x'.repeat(megabyte);
    const length = `Content-Length: ${megabyte}`;
    for (const framing of [{}, chunked]) {
      const answer = await ask(alone, path, { method: 'POST', headers: framing, body });
      expect([answer.status, answer.text]).toEqual([
        503,
        '{"detail":"Service temporarily unavailable","code":"unavailable"}',
      ]);
    }
    const raw = await exchange(
      alone,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${length}\r\n\r\n${body}`,
    );
    expect(raw).toMatch(/^HTTP\/1\.1 503 /);
  } finally {
    await alone.close();
  }
});

function sendBy(agent: Agent, framing: Record<string, string>, size: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { ...framing, ...good };
  const outgoing = request({ host: '127.0.0.1', port: edge.port, path, method: 'POST', headers, agent }, (incoming) => {
    incoming.resume().once('end', () => resolve(incoming.statusCode ?? 0));
  });
  outgoing.once('error', reject).end(Buffer.alloc(size, 'x'));
  return promise;
}
