import { createServer } from 'node:http';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { renderNginx } from '../../../nginx/render.ts';
import { nginxUser, startNginx } from '../nginx.ts';
import { isAlive } from '../orphans.ts';
import { freePorts } from '../ports.ts';
import { temporaryDirectory, toolsDirectory } from './support.ts';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Nginx } from '../nginx.ts';

type Seen = { url: string; method: string; headers: IncomingHttpHeaders; bytes: number };

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let gateway: Server;
let nginx: Nginx;
let [edge, balancer, alive, dead] = [0, 0, 0, 0];

beforeAll(async () => {
  directory = await temporaryDirectory();
  [edge, balancer, alive, dead] = (await freePorts(4)) as [number, number, number, number];
  gateway = await echoServer(alive);
  await mkdir(join(directory.path, 'nginx'));
  nginx = await startNginx({
    directory: join(directory.path, 'nginx'),
    toolsDirectory,
    logFile: join(directory.path, 'nginx.log'),
    configuration: configuration([dead, alive]),
    ports: [edge, balancer],
  });
}, 60_000);

afterAll(async () => {
  await nginx.stop();
  expect(await isAlive(nginx.pid)).toBe(false);
  gateway.close();
  await directory.remove();
});

function configuration(gatewayPorts: number[]): string {
  const user = nginxUser();
  const replicas = gatewayPorts.map((port) => `127.0.0.1:${port}`);
  return renderNginx({
    directory: join(directory.path, 'nginx'),
    ...(user ? { user } : {}),
    edge: { listen: `127.0.0.1:${edge}`, gateway: replicas },
    balancers: [{ name: 'api-gateway', listen: `127.0.0.1:${balancer}`, replicas }],
  });
}

// Without keep-alive: a reload ends idle connections, and a request could meet the end of its own.
const at = (port: number, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { connection: 'close', ...(init.headers as Record<string, string>) },
  });
const seenBy = async (port: number, path: string, init?: RequestInit) =>
  (await (await at(port, path, init)).json()) as Seen;

test('the client address is the one nginx saw, whatever the client claims', async () => {
  const { headers } = await seenBy(edge, '/api/v1/payments', {
    headers: { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' },
  });
  expect(headers['x-forwarded-for']).toBe('127.0.0.1');
  expect(headers['x-real-ip']).toBeUndefined();
  expect(headers.forwarded).toBeUndefined();
});

test('a well-formed request id goes through and comes back once, any other is replaced', async () => {
  const kept = await at(edge, '/api/v1/payments', { headers: { 'x-request-id': 'order-7.a_b' } });
  expect(kept.headers.get('x-request-id')).toBe('order-7.a_b');
  expect(((await kept.json()) as Seen).headers['x-request-id']).toBe('order-7.a_b');
  const replaced = await at(edge, '/api/v1/payments', { headers: { 'x-request-id': 'a b;c' } });
  expect(replaced.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
});

test.each([
  '/internal/v1/merchants',
  '/metrics',
  '/livez',
  '/api/v1/../../internal/v1/merchants',
  '/api/v1/%2e%2e/%2e%2e/metrics',
  '/',
])('the edge answers 404 to %s itself', async (path) => {
  const answer = await at(edge, path);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toEqual({ detail: 'Not found' });
});

test('an internal token from outside does not reach the gateway', async () => {
  const { headers } = await seenBy(edge, '/api/v1/payments', { headers: { 'x-internal-token': 'guess' } });
  expect(headers['x-internal-token']).toBeUndefined();
});

test('a path and query reach the gateway byte for byte', async () => {
  expect((await seenBy(edge, '/api/v1/payments/a%2Fb?cursor=%20x')).url).toBe('/api/v1/payments/a%2Fb?cursor=%20x');
});

test('a body of 64 KiB and a byte reaches the gateway, one far beyond is 413 in JSON', async () => {
  expect((await seenBy(edge, '/api/v1/payments', { method: 'POST', body: 'x'.repeat(65_537) })).bytes).toBe(65_537);
  const answer = await at(edge, '/api/v1/payments', { method: 'POST', body: 'x'.repeat(100_000) });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toEqual({ detail: 'Request body exceeds 64 KiB' });
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
});

test('a replica that refuses connections costs no request, not even a POST', async () => {
  for (const port of [edge, balancer]) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => at(port, '/api/v1/payments', { method: 'POST', body: '{}' })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
  }
});

test('the balancer passes the internal token and the request id on', async () => {
  const { headers } = await seenBy(balancer, '/internal/v1/x', {
    headers: { 'x-internal-token': 'real', 'x-request-id': 'abc' },
  });
  expect(headers['x-internal-token']).toBe('real');
  expect(headers['x-request-id']).toBe('abc');
});

test('with no gateway the answer is the interface’s 503, and a reload brings another one in', async () => {
  await nginx.reload(configuration([dead]));
  const answer = await untilStatus(503);
  expect(await answer.json()).toEqual({ detail: 'Service temporarily unavailable' });
  await nginx.reload(configuration([alive]));
  await untilStatus(200);
}, 15_000);

test('a configuration that nginx refuses changes nothing', async () => {
  await expect(nginx.reload('nonsense;')).rejects.toThrow('nginx refuses its configuration');
  await untilStatus(200);
});

/** The processes of the configuration before may still answer for a moment. Bounded by the test's own time limit. */
async function untilStatus(status: number): Promise<Response> {
  for (;;) {
    const answer = await at(edge, '/api/v1/payments');
    if (answer.status === status) return answer;
  }
}

async function echoServer(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      const { url, method, headers } = request;
      response.setHeader('x-request-id', headers['x-request-id'] ?? 'none');
      response.end(JSON.stringify({ url, method, headers, bytes }));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}
