import { describe, expect, test } from '@jest/globals';

import { eventually } from '@quittance/testkit/eventually.ts';

import { route } from '../src/route.ts';
import { rawClient, startServer } from './server-fixture.ts';

/** A server with one route that answers when told to. */
async function slowServer() {
  const entered: PromiseWithResolvers<void> = Promise.withResolvers();
  const finish: PromiseWithResolvers<void> = Promise.withResolvers();
  const server = await startServer({
    routes: [
      route({
        method: 'GET',
        path: '/slow',
        handle: async () => {
          entered.resolve();
          await finish.promise;
          return { status: 200, body: { done: true } };
        },
      }),
    ],
  });
  return { server, entered: entered.promise, finish: finish.resolve };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('stopping', () => {
  test('finishes the requests under way and closes their connections', async () => {
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
    await eventually(() => expect(rawClient(server.port)).rejects.toThrow('ECONNREFUSED'));
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

  test('does not wait for idle connections', async () => {
    const { server } = await slowServer();
    const client = await rawClient(server.port);
    client.send(get('/livez'));
    await client.received(/200 OK/);
    await server.stop();
    await client.ended;
  });
});

test('a port that is taken is an error that names it', async () => {
  const first = await startServer();
  await expect(startServer({ port: first.port })).rejects.toThrow(
    `EADDRINUSE: address already in use 127.0.0.1:${first.port}`,
  );
  await first.stop();
});
