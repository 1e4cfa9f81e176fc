import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';

import { eventually } from '@quittance/testkit/eventually.ts';

import { rawClient, startServer } from './server-fixture.ts';

/** A server with one route that answers on demand. */
async function slowServer() {
  const entered: PromiseWithResolvers<void> = Promise.withResolvers();
  const finish: PromiseWithResolvers<void> = Promise.withResolvers();
  const server = await startServer({
    routes: [
      {
        method: 'GET',
        path: '/slow',
        handle: async () => {
          entered.resolve();
          await finish.promise;
          return { status: 200, body: { done: true } };
        },
      },
    ],
  });
  return { server, entered: entered.promise, finish: finish.resolve };
}

/** One POST over the agent's connections. Fails unless its whole answer arrives. */
async function postWork(port: number, agent: Agent): Promise<void> {
  const { promise, resolve, reject }: PromiseWithResolvers<void> = Promise.withResolvers();
  const request = httpRequest({ port, path: '/work', method: 'POST', agent }, (response) => {
    response.once('error', reject).once('end', resolve).resume();
  });
  request.once('error', reject).end('{"a":1}');
  return promise;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('stopping', () => {
  test('finishes current requests and closes their connections', async () => {
    const { server, entered, finish } = await slowServer();
    const client = await rawClient(server.port);
    client.send(get('/slow'));
    await entered;
    const stopped = server.stop();
    finish();
    expect(await client.ended).toMatch(/200 OK[\s\S]*connection: close[\s\S]*{"done":true}/i);
    await stopped;
  });

  test('accepts no new connection', async () => {
    const { server, entered, finish } = await slowServer();
    const client = await rawClient(server.port);
    client.send(get('/slow'));
    await entered;
    const stopped = server.stop();
    const connect = async () => (await rawClient(server.port)).socket.destroy();
    await eventually(() => expect(connect()).rejects.toThrow('ECONNREFUSED'));
    finish();
    await stopped;
  });

  test('still answers a request that arrives on an open connection, closes it, and is not ready', async () => {
    const { server } = await slowServer();
    const client = await rawClient(server.port);
    client.send(get('/livez'));
    await client.received(/200 OK/);
    const stopped = server.stop();
    client.send(get('/readyz'));
    expect(await client.ended).toMatch(/503[\s\S]*connection: close/i);
    await stopped;
  });

  test('under load breaks no accepted request: a request that fails was refused before it was sent', async () => {
    const server = await startServer({
      routes: [
        {
          method: 'POST',
          path: '/work',
          handle: async (request) => {
            const { bytes } = await request.readBody(100);
            await new Promise((resolve) => setImmediate(resolve));
            return { status: 201, body: bytes };
          },
        },
      ],
    });
    const agent = new Agent({ keepAlive: true });
    const failures: (string | undefined)[] = [];
    let answered = 0;
    const worker = async () => {
      while (failures.length < 50) {
        try {
          await postWork(server.port, agent);
          answered += 1;
          if (answered === 500) void server.stop();
        } catch (error) {
          failures.push((error as NodeJS.ErrnoException).code);
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    agent.destroy();
    expect(new Set(failures)).toEqual(new Set(['ECONNREFUSED']));
    expect(answered).toBeGreaterThanOrEqual(500);
  });

  test('still answers a request on a connection that it had not accepted yet when it was told to stop', async () => {
    const { server } = await slowServer();
    const client = rawClient(server.port);
    const stopped = server.stop();
    (await client).send(get('/readyz'));
    expect(await (await client).ended).toMatch(/503[\s\S]*connection: close/i);
    await stopped;
  });

  test('closes idle connections after a while, but none whose request arrived while the process was busy', async () => {
    const { server } = await slowServer();
    const [idle, used] = await Promise.all([rawClient(server.port), rawClient(server.port)]);
    for (const client of [idle, used]) {
      client.send(get('/livez'));
      await client.received(/200 OK/);
    }
    const stopped = server.stop();
    await delay(7_800);
    used.send(get('/readyz'));
    for (const until = performance.now() + 500; performance.now() < until;);
    expect(await used.ended).toMatch(/503[\s\S]*connection: close/i);
    await Promise.all([stopped, idle.ended]);
  });
});

test('a port in use is an error that names it', async () => {
  const first = await startServer();
  await expect(startServer({ port: first.port })).rejects.toThrow(
    `EADDRINUSE: address already in use 127.0.0.1:${first.port}`,
  );
  await first.stop();
});

/** By status. */
const codes: Record<number, string> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  431: 'headers_too_large',
};

describe('bytes that never become a request', () => {
  test.each([
    ['no HTTP', 400, 'hello\r\n\r\n'],
    [
      'a length and chunks',
      400,
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a wish to tunnel', 405, 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['two hosts', 400, 'GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n'],
    ['a host that is none', 400, 'GET /livez HTTP/1.1\r\nHost: x/../y\r\nConnection: close\r\n\r\n'],
    [
      'a coding that is still applied',
      400,
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
    ],
    [
      'no HTTP after an offer to upgrade',
      404,
      `${get('/x').slice(0, -2)}Connection: upgrade\r\nUpgrade: websocket\r\n\r\nno HTTP`,
    ],
    ['an unknown coding', 400, 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: unknown\r\n\r\n0\r\n\r\n'],
    ['no host', 400, 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['headers that are too large', 431, `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('%s is answered %i, in JSON, with a request id', async (_what, status, bytes) => {
    const server = await startServer();
    const client = await rawClient(server.port);
    client.send(bytes);
    const answer = await client.ended;
    expect(answer).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\r\n\r\n\\{"detail":"[^"]+","code":"${codes[status]}"\\}$`),
    );
    expect(answer).toMatch(/^content-type: application\/json/im);
    expect(answer).toMatch(/^x-request-id: [\w-]{36}\r$/im);
    await server.stop();
  });

  test('get no second answer when the headers already had one', async () => {
    const server = await startServer();
    const client = await rawClient(server.port);
    client.send('POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    await client.received(/Not found/);
    client.send('no chunk\r\n');
    expect((await client.ended).match(/HTTP\/1\.1 /g)).toHaveLength(1);
    await server.stop();
  });

  test('do not end the process when they ask for a tunnel and reset the connection', async () => {
    const server = await startServer();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const client = await rawClient(server.port);
      client.send('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n');
      client.socket.resetAndDestroy();
    }
    // An unhandled error would fail this file as an uncaught exception.
    const client = await rawClient(server.port);
    client.send(get('/livez'));
    await client.received(/live/);
    client.socket.destroy();
    await server.stop();
  });

  test('are not an unknown expectation', async () => {
    const server = await startServer();
    const client = await rawClient(server.port);
    client.send('GET /livez HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n');
    expect(await client.received(/live/)).toMatch(/^HTTP\/1\.1 200/);
    client.socket.destroy();
    await server.stop();
  });
});
