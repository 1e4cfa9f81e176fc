import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, newClient, open, startEdge, type Edge } from './support.ts';

const atATime = 30;

let edge: Edge;
const held: ServerResponse[] = [];
const sockets: Socket[] = [];

// Requests with X-Hold are answered when the test says so.
beforeAll(async () => {
  edge = await startEdge({
    answer: ({ headers }, response) => {
      if (headers['x-hold'] === undefined) response.end('{}');
      else held.push(response);
    },
  });
});
afterAll(() => edge.close());
afterEach(() => {
  for (const response of held.splice(0)) response.end('{}');
  for (const socket of sockets.splice(0)) socket.destroy();
});

const statusFor = async (from: string, path = '/pay/x') => (await ask(edge, path, { from })).status;

describe('one client has 30 requests under way at a time, and the next one is 429', () => {
  test('whatever their paths, until one of them ends', async () => {
    const from = newClient();
    const paths = ['/api/v1/payments', '/pay/x', '/assets/x', '/docs'];
    const answers = Array.from({ length: atATime }, (_, n) =>
      ask(edge, paths[n % paths.length]!, { from, headers: { 'X-Hold': 'yes' } }),
    );
    await until(() => held.length === atATime);
    const refused = await ask(edge, '/api/v1/payments', { from });
    expect([refused.status, refused.text]).toEqual([429, '{"detail":"Too many requests","code":"rate_limited"}']);
    expect(refused.headers['retry-after']).toBeUndefined();
    expect(await statusFor(from)).toBe(429);
    expect(await statusFor(newClient())).toBe(200);

    held.shift()?.end('{}');
    await Promise.race(answers);
    // nginx counts a request as ended when it has sent the answer, which may be a moment after we receive it.
    await until(async () => (await statusFor(from)) === 200);
    for (const response of held.splice(0)) response.end('{}');
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  test('also while their bodies are still on the way', async () => {
    const from = newClient();
    const before = edge.seen.length;
    await Promise.all(Array.from({ length: atATime }, () => slowBody(from)));
    expect(await statusFor(from)).toBe(429);
    expect(await statusFor(from, '/api/v1/payments')).toBe(429);
    expect(await statusFor(newClient())).toBe(200);
    expect(edge.seen.slice(before)).toHaveLength(1);
    for (const socket of sockets.splice(0)) socket.destroy();
    await until(async () => (await statusFor(from)) === 200);
  });
});

test('a client that stalls is disconnected, in its headers or its body, and others are served meanwhile', async () => {
  const from = newClient();
  const headers = open(edge, 'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nX-Slow', from);
  sockets.push(headers);
  const body = await slowBody(from);
  const cut = Promise.all([closed(headers), closed(body)]);
  body.write('{');
  headers.write('ly: ');
  expect(await statusFor(from)).toBe(200);
  expect(await statusFor(newClient())).toBe(200);
  await cut;
  expect([headers.bytesRead, body.bytesRead]).toEqual([0, 'HTTP/1.1 100 Continue\r\n\r\n'.length]);
  expect(edge.seen.filter(({ method }) => method === 'POST')).toEqual([]);
});

/** A request whose body never ends. Resolves when nginx says that it waits for the body. */
async function slowBody(from: string): Promise<Socket> {
  const head = 'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n';
  const socket = open(edge, head, from);
  sockets.push(socket);
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  return socket;
}

/** Resolves when the connection has ended in any way, also by a reset. */
function closed(socket: Socket): Promise<void> {
  const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  socket.on('error', () => undefined).once('close', () => resolve());
  return promise;
}

/** Bounded by the test's own time limit. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 100));
}
