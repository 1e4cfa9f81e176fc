import { request } from 'node:http';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';

import { defineCall, json } from '@quittance/contracts/call.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { createCallerHeaders } from '../src/call-token.ts';

import { createServiceClient } from '../src/client/client.ts';
import { HttpError } from '../src/errors.ts';
import { startStream } from '../src/server/reply.ts';
import { rawClient, startServer } from './server-fixture.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const PIECE = 256 * 1024;

type Source = { made: number; ended: boolean };

/** A service that answers in pieces, and one in front that passes them on, like the gateway. */
async function startTwo(piecesOf: (source: Source) => AsyncGenerator<Buffer, void>, { streamStalledMs = 60_000 } = {}) {
  const source: Source = { made: 0, ended: false };
  async function* watched() {
    try {
      for await (const piece of piecesOf(source)) {
        source.made += piece.length;
        yield piece;
      }
    } finally {
      source.ended = true;
    }
  }
  const Read = defineCall('payments', 'GET /pieces', json<never>());
  const owner = await startServer({
    trust: sharedTrust(),
    streamStalledMs,
    routes: [
      {
        method: 'GET',
        path: Read.path,
        handle: async () => ({ status: 200, headers: { 'content-type': 'x/y' }, body: await startStream(watched()) }),
      },
    ],
  });
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const common = {
    name: 'payments',
    showCaller: createCallerHeaders('payments', sharedTrust()),
    logger: testLogger,
    metrics,
  };
  const client = createServiceClient({ baseUrl: owner.url, ...common });
  const front = await startServer({
    streamStalledMs,
    publicTimeoutMs: 1_800,
    routes: [
      {
        method: 'GET',
        path: '/pieces',
        handle: async () => {
          const { status, body } = await client.stream(Read);
          if (status === 200) return { status, headers: { 'content-type': 'x/y' }, body };
          body.destroy();
          throw new HttpError(status, 'refused');
        },
      },
    ],
  });
  closing.push(
    () => owner.stop(),
    () => client.close(),
    () => front.stop(),
  );
  return { source, owner, client, front, url: `${front.url}/pieces` };
}

test('a stream arrives whole, with its status and type and without a length', async () => {
  const texts = Array.from({ length: 50 }, (_, position) => `${position},`.repeat(999));
  const { url, source } = await startTwo(async function* () {
    for (const text of texts) {
      await endOfTurn();
      yield Buffer.from(text);
    }
  });
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-length')]).toEqual([
    200,
    'x/y',
    null,
  ]);
  expect(await answer.text()).toBe(texts.join(''));
  expect(source.ended).toBe(true);
});

test('an empty stream is an empty answer', async () => {
  const { url } = await startTwo(async function* () {
    await endOfTurn();
    yield* [];
  });
  expect(await (await fetch(url)).text()).toBe('');
});

test('an error before the first piece is answered like any other', async () => {
  const { url, source } = await startTwo(async function* () {
    await endOfTurn();
    yield* [];
    throw new HttpError(429, 'later', { 'retry-after': '3' });
  });
  const answer = await fetch(url);
  expect(answer.status).toBe(429);
  expect(source.ended).toBe(true);
});

test('a later error breaks the connection, so that a partial answer is never taken for a complete one', async () => {
  const { url, front } = await startTwo(async function* () {
    yield Buffer.from('first');
    await endOfTurn();
    throw new Error('the database is gone');
  });
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  const raw = await rawClient(front.port);
  raw.send('GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n');
  const text = await raw.ended;
  expect(text).toContain('first');
  expect(text.endsWith('0\r\n\r\n')).toBe(false);
});

test('a slow reader makes the source wait: nothing is buffered without limit', async () => {
  const total = 96 * 1024 * 1024;
  const { url, source } = await startTwo(async function* (made) {
    const piece = Buffer.alloc(PIECE);
    while (made.made < total) {
      await endOfTurn();
      yield piece;
    }
  });
  let read = 0;
  let mostAhead = 0;
  for await (const chunk of (await fetch(url)).body!) {
    // Waits until the source stops by itself.
    for (let before = -1; before !== source.made;) {
      before = source.made;
      for (let turn = 0; turn < 5; turn += 1) await endOfTurn();
    }
    read += (chunk as Uint8Array).length;
    mostAhead = Math.max(mostAhead, source.made - read);
  }
  expect(read).toBe(total);
  // The system's buffers for two connections take some megabytes.
  expect(mostAhead).toBeLessThan(48 * 1024 * 1024);
});

test('a reader that leaves ends the source', async () => {
  const { url, source } = await startTwo(endless);
  const leaving = new AbortController();
  const answer = await fetch(url, { signal: leaving.signal });
  await answer.body!.getReader().read();
  leaving.abort();
  await eventually(() => expect(source.ended).toBe(true));
});

test('a stalled reader is disconnected, and its source ends', async () => {
  const { front, source } = await startTwo(endless, { streamStalledMs: 300 });
  const reader = await rawClient(front.port);
  reader.send('GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n');
  await reader.received(/200 OK/);
  reader.socket.pause();
  await eventually(() => expect(source.ended).toBe(true));
  reader.socket.destroy();
});

test('HEAD returns the headers and makes only the first piece', async () => {
  const { url, source } = await startTwo(endless);
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(url, { method: 'HEAD' }, (answer) => resolve(answer.resume().statusCode))
    .on('error', reject)
    .end();
  expect(await promise).toBe(200);
  await eventually(() => expect(source.ended).toBe(true));
});

async function* endless() {
  const piece = Buffer.alloc(PIECE);
  for (;;) {
    await endOfTurn();
    yield piece;
  }
}
