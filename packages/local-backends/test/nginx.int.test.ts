import { createServer } from 'node:http';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { renderNginx } from '../../../infra/nginx/render.ts';
import { nginxUser, startNginx } from '../src/nginx.ts';
import { isAlive } from '../src/orphans.ts';
import { freePorts } from '../src/ports.ts';
import { temporaryDirectory, toolsDirectory } from './support.ts';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Nginx } from '../src/nginx.ts';

type Seen = { url: string; method: string; headers: IncomingHttpHeaders; bytes: number };

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let gateway: Server;
let nginx: Nginx;
let [edge, balancer, alive] = [0, 0, 0];
/** Nothing listens on this port, whatever free ports other tests choose. */
const dead = 1;

beforeAll(async () => {
  directory = await temporaryDirectory();
  [edge, balancer, alive] = (await freePorts(3)) as [number, number, number];
  gateway = await echoServer(alive);
  await mkdir(join(directory.path, 'nginx'));
  nginx = await startNginx({
    directory: join(directory.path, 'nginx'),
    toolsDirectory,
    logFile: join(directory.path, 'nginx.log'),
    configuration: configuration([dead, alive]),
    ports: [edge, balancer],
  });
});

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

// Without keep-alive: a reload closes idle connections, and a request could be sent on a closing one.
const at = (port: number, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { connection: 'close', ...(init.headers as Record<string, string>) },
  });
const seenBy = async (port: number, path: string, init?: RequestInit) =>
  (await (await at(port, path, init)).json()) as Seen;

test('a replica that refuses connections fails no request, not even a POST', async () => {
  for (const port of [edge, balancer]) {
    const answers = await Promise.all(
      // No more than the edge permits one client at a time.
      Array.from({ length: 20 }, () => at(port, '/api/v1/payments', { method: 'POST', body: '{}' })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
  }
});

test('the balancer passes on the internal token and the request id', async () => {
  const { headers } = await seenBy(balancer, '/internal/v1/x', {
    headers: { 'x-internal-token': 'real', 'x-request-id': 'abc' },
  });
  expect(headers['x-internal-token']).toBe('real');
  expect(headers['x-request-id']).toBe('abc');
});

test("without a gateway the answer is the API's 503, and a reload adds another gateway", async () => {
  await nginx.reload(configuration([dead]));
  const answer = await untilStatus(503);
  expect(await answer.json()).toEqual({ detail: 'Service temporarily unavailable', code: 'unavailable' });
  await nginx.reload(configuration([alive]));
  await untilStatus(200);
});

test('a configuration that nginx refuses changes nothing', async () => {
  await expect(nginx.reload('nonsense;')).rejects.toThrow('nginx refuses its configuration');
  await untilStatus(200);
});

/**
 * The processes of the previous configuration may still answer for a moment. Requests are no faster than the edge
 * permits, and the test's own time limit ends the wait.
 */
async function untilStatus(status: number): Promise<Response> {
  for (;;) {
    const answer = await at(edge, '/api/v1/payments');
    if (answer.status === status) return answer;
    await delay(100);
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
