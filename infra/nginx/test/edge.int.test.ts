import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nginxUser, startNginx, type Nginx } from '../../local/backends/nginx.ts';
import { stackDirectory } from '../../local/stack/directory.ts';
import { renderNginx } from '../render.ts';

let directory: string;
let gateway: Server;
let nginx: Nginx;
let port: number;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quittance-edge-'));
  gateway = await listening(createServer((_request, response) => void response.end('{"from":"gateway"}')));
  port = await freePort();
  const user = nginxUser();
  nginx = await startNginx({
    directory,
    toolsDirectory: stackDirectory().tools,
    logFile: join(directory, 'nginx.log'),
    configuration: renderNginx({
      directory,
      ...(user !== undefined && { user }),
      edge: { listen: `127.0.0.1:${port}`, gateway: [`127.0.0.1:${portOf(gateway)}`] },
    }),
    ports: [port],
  });
}, 60_000);
afterAll(async () => {
  await nginx.stop();
  gateway.close();
  await rm(directory, { recursive: true, force: true });
});

async function listening(server: Server): Promise<Server> {
  const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function freePort(): Promise<number> {
  const server = await listening(createServer());
  const free = portOf(server);
  server.close();
  return free;
}

/** Sends exactly these bytes. @returns everything that came back until the connection ended. */
function exchange(bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(bytes));
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.once('error', reject).once('close', () => resolve(text));
  return promise;
}

const rest = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';

describe('what nginx refuses by itself is JSON with a request id, and no fault of ours', () => {
  test.each([
    ['a path that is no valid encoding', 400, `GET /api/v1/payments/% ${rest}\r\n`],
    ['no HTTP at all', 400, 'hello\r\n\r\n'],
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
    const answer = await exchange(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/^content-type: application\/json\r$/im);
    expect(answer.match(/^x-request-id: \S+\r$/gim)).toHaveLength(1);
    expect(answer).toMatch(/\r\n\r\n\{"detail":"[^"]+"\}$/);
    if (status === 405) expect(answer).toMatch(/^allow: /im);
  });

  test.each(['/.refused', '/internal/v1/merchants', '/metrics', '/'])('%s is not there', async (path) => {
    expect(await exchange(`GET ${path} ${rest}\r\n`)).toMatch(/^HTTP\/1\.1 404 [\s\S]*\{"detail":"Not found"\}$/);
  });

  test('the gateway is asked about everything else', async () => {
    const answer = await exchange(`GET /api/v1/payments ${rest}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"from":"gateway"\}/);
  });
});

test('no public token gets into the log when the gateway cannot be reached', async () => {
  gateway.close();
  gateway.closeAllConnections();
  const token = 'T'.repeat(43);
  for (const path of [`/pay/${token}`, `/api/v1/payments/${token}?a=b`, '/api/v1/merchant/limits']) {
    expect(await exchange(`GET ${path} ${rest}\r\n`)).toMatch(/^HTTP\/1\.1 503 [\s\S]*Service temporarily unavailable/);
  }
  // nginx writes its messages before it answers.
  const log = await readFile(join(directory, 'nginx.log'), 'utf8');
  expect(log).toContain('/api/v1/merchant/limits');
  expect(log).not.toContain(token);
});
