import { randomInt } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { serveStartupProbes } from '../src/server/startup-probe-server.ts';
import { rawClient, startServer } from './server-fixture.ts';

/** A port that was free a moment ago, and is none of those that the system gives to whoever asks for any. */
async function config() {
  const server = await eventually(() => startServer({ port: 10_100 + randomInt(9_000) }));
  await server.stop();
  return { host: '127.0.0.1', port: server.port };
}

test('a process that waits is alive, is not ready, and makes room for its service', async () => {
  const place = await config();
  const there: PromiseWithResolvers<void> = Promise.withResolvers();
  const waiting = serveStartupProbes({ name: 'test', config: place, until: () => there.promise });
  const ask = async (path: string) => fetch(`http://127.0.0.1:${place.port}${path}`);
  const live = await eventually(() => ask('/livez'));
  expect([live.status, await live.json()]).toEqual([200, { status: 'live', service: 'test' }]);
  for (const path of ['/readyz', '/api/v1/payments', '/metrics']) {
    const answer = await ask(path);
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      503,
      { detail: 'Service temporarily unavailable', code: 'unavailable' },
    ]);
  }
  // Somebody who has connected and says nothing holds nobody up.
  const silent = await rawClient(place.port);
  there.resolve();
  await waiting;
  await silent.ended;
  const server = await startServer({ port: place.port });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  await server.stop();
});

test('what ends the wait without success is handed on, and the port is free again', async () => {
  const place = await config();
  const there: PromiseWithResolvers<void> = Promise.withResolvers();
  const waiting = serveStartupProbes({ name: 'test', config: place, until: () => there.promise });
  await eventually(() => fetch(`http://127.0.0.1:${place.port}/livez`));
  there.reject(new Error('no database'));
  await expect(waiting).rejects.toThrow('no database');
  const server = await startServer({ port: place.port });
  await server.stop();
});

test('backends that are there open no door, so the usual start has nothing to close', async () => {
  const server = await startServer();
  const config = { host: '127.0.0.1', port: server.port };
  await serveStartupProbes({ name: 'test', config, until: () => Promise.resolve() });
  await expect(
    serveStartupProbes({ name: 'test', config, until: () => Promise.reject(new Error('refused')) }),
  ).rejects.toThrow('refused');
  await server.stop();
});
