import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import tls from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createConnector, openTls } from '../src/sending/dial.ts';
import { createSender, type AttemptResult, type Sender } from '../src/sending/sender.ts';
import { createAuthority, type Authority } from './certificates.ts';
import { say, startRawReceiver, type Behaviour, type RawReceiver } from './raw-receiver.ts';

const body = Buffer.from('{"event_id":"evt_1"}');
const ok = say('HTTP/1.1 200 OK', 'content-length: 0', '', '');

let authority: Authority;
let receiver: RawReceiver;
let sender: Sender;
/** A short time limit for bodies. */
let hasty: Sender;
/** A short time limit for attempts, for receivers that never end one. */
let fleeting: Sender;
let events = 0;

beforeAll(async () => {
  authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  receiver = await startRawReceiver(authority);
  sender = senderTo();
  hasty = senderTo({ bodyTimeoutMs: 300 });
  fleeting = senderTo({ timeoutMs: 1_500 });
});
afterAll(async () => {
  receiver.close();
  await Promise.all([sender.close(), hasty.close(), fleeting.close()]);
});
beforeEach(() => receiver.behave(ok));

function senderTo(over: { timeoutMs?: number; bodyTimeoutMs?: number; port?: number } = {}): Sender {
  const connector = createConnector({
    resolve: async () => ['8.8.8.8'],
    dial: ({ host, timeoutMs }) => openTls({ address: '127.0.0.1', port: over.port ?? receiver.port, host, timeoutMs }),
  });
  return createSender({ connector, clock: () => new Date(), ...over });
}

type Sent = AttemptResult & { eventId: string; posts: number };

async function send(to: { host?: string; by?: Sender } = {}): Promise<Sent> {
  events += 1;
  const { host = `host${events}.raw.io`, by = sender } = to;
  const eventId = `evt_${events}`;
  const result = await by.send({
    eventId,
    merchantId: 'mer_1',
    url: `https://${host}/`,
    keyId: 'whk_1',
    secret: 'whsec_1',
    body,
  });
  return { ...result, eventId, posts: receiver.events.filter((id) => id === eventId).length };
}

/** Writes repeatedly while the connection is open. */
const flood =
  (start: string, part: string, pauseMs = 0): Behaviour =>
  (socket) => {
    socket.write(start);
    const write = (): void => {
      if (socket.destroyed) return;
      socket.write(part, () => setTimeout(write, pauseMs));
    };
    write();
  };

const then =
  (first: Behaviour, next: (socket: TLSSocket) => void): Behaviour =>
  (socket, request) => {
    first(socket, request);
    setImmediate(() => next(socket));
  };

const reset = (socket: TLSSocket): void => {
  (socket as unknown as { _parent: { resetAndDestroy(): void } })._parent.resetAndDestroy();
};
/** The TCP connection ends without a TLS close. */
const endTcpOnly = (socket: TLSSocket): void => {
  (socket as unknown as { _parent: { end(): void } })._parent.end();
};

describe('the logged result of an attempt contains no byte of the answer', () => {
  const canary = 'canary-'.repeat(20);
  test.each<[string, Behaviour]>([
    ['its status line', say(`HTTP/1.1 200${canary}`, '', '')],
    ['its version', say(`${canary}/1.1 200 OK`, '', '')],
    ['a header', say('HTTP/1.1 500 No', `${canary}: \0${canary}`, '', '')],
    ['too many headers', flood('HTTP/1.1 500 No\r\n', `x-${canary}: ${canary}\r\n`)],
    ['its content length', say('HTTP/1.1 500 No', `content-length: ${canary}`, '', '')],
    ['its reason', say(`HTTP/1.1 500 ${canary}`, 'content-length: 0', '', '')],
    ['its body', say('HTTP/1.1 500 No', `content-length: ${canary.length}`, '', canary)],
    ['what comes instead of TLS records', (socket) => (socket as unknown as { _parent: Socket })._parent.write(canary)],
  ])('from %s', async (_where, behaviour) => {
    receiver.behave(behaviour);
    const { eventId, posts, ...result } = await send({ by: fleeting });
    expect(inspect(result, { depth: 10 })).not.toContain('canary');
    expect(result.errorCategory).not.toBeNull();
    expect(result.errorCode ?? 'NONE').toMatch(/^[A-Z0-9_]+$/);
  });
});

describe('the status line of an answer decides', () => {
  const head = ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', ''];
  test.each<[string, Behaviour]>([
    ['in HTTP/1.0, whose body ends with the connection', then(say('HTTP/1.0 200 OK', '', 'fine'), (s) => s.end())],
    ['whose body ends with TCP, without a word of TLS', then(say('HTTP/1.1 200 OK', '', 'fine'), endTcpOnly)],
    [
      'after interim ones',
      say(
        'HTTP/1.1 103 Early Hints',
        '',
        'HTTP/1.1 102 Processing',
        '',
        'HTTP/1.1 200 OK',
        'content-length: 0',
        '',
        '',
      ),
    ],
    ['after "continue"', say('HTTP/1.1 100 Continue', '', 'HTTP/1.1 200 OK', 'content-length: 0', '', '')],
    ['after an empty line', say('', 'HTTP/1.1 200 OK', 'content-length: 0', '', '')],
    [
      'whose lines end without a carriage return',
      (socket) => void socket.write('HTTP/1.1 200 OK\ncontent-length: 0\n\n'),
    ],
    ['whose version is that of HTTP/2', say('HTTP/2 200', 'content-length: 0', '', '')],
    ['without a reason', say('HTTP/1.1 200', 'content-length: 0', '', '')],
    ['with 20 KB of headers', say('HTTP/1.1 200 OK', `x: ${'x'.repeat(20_000)}`, 'content-length: 0', '', '')],
    ['with 100 KB of headers', say('HTTP/1.1 200 OK', `x: ${'x'.repeat(100_000)}`, 'content-length: 0', '', '')],
    ['with one length twice', say('HTTP/1.1 200 OK', 'content-length: 0', 'content-length: 0', '', '')],
    ['with two lengths', say('HTTP/1.1 200 OK', 'content-length: 0', 'content-length: 5', '', 'HTTP/')],
    ['with a list of lengths', say('HTTP/1.1 200 OK', 'content-length: 0, 0', '', '')],
    ['with a negative length', say('HTTP/1.1 200 OK', 'content-length: -1', '', '')],
    ['with a length and chunks', say(...head.slice(0, 2), 'content-length: 3', '', '2', 'ok', '0', '', '')],
    ['in an unknown encoding', say('HTTP/1.1 200 OK', 'transfer-encoding: x-zip', '', 'hello')],
    ['with a malformed header line', say('HTTP/1.1 200 OK', 'no colon', 'content-length: 0', '', '')],
    ['with a space before a colon', say('HTTP/1.1 200 OK', 'content-length : 0', '', '')],
    ['with a folded header', say('HTTP/1.1 200 OK', 'x: 1', ' content-length: 9', 'content-length: 0', '', '')],
    ['with a zero byte in a header', say('HTTP/1.1 200 OK', 'x: a\0b', 'content-length: 0', '', '')],
    ['with one header without end', flood('HTTP/1.1 200 OK\r\nx: ', 'x'.repeat(1000))],
    ['with headers without end', flood('HTTP/1.1 200 OK\r\n', 'x: 1\r\n'.repeat(100))],
    ['with half a head, and the end', then(say('HTTP/1.1 200 OK', 'x-half'), (s) => s.end())],
    ['with a header that arrives slowly', flood('HTTP/1.1 200 OK\r\nx-slow: ', 'x', 50)],
    ['with trailers', say(...head.slice(0, 2), '', '2', 'ok', '0', 'x-sum: 1', '', '')],
    [
      'with a content length where there must be none',
      say('HTTP/1.1 204 No Content', 'content-length: 5', '', 'hello'),
    ],
    ['whose chunks are garbage', say(...head, 'zz', 'nonsense')],
    ['whose chunk is longer than any body', say(...head, 'FFFFFFFFFFFFFFFF', 'x')],
    ['whose length is not kept', then(say('HTTP/1.1 200 OK', 'content-length: 10', '', 'short'), (s) => s.end())],
    ['that announces a huge body', say('HTTP/1.1 200 OK', 'content-length: 99999999999', '', '')],
    ['with a reset in the middle of its body', then(say('HTTP/1.1 200 OK', 'content-length: 10', '', 'short'), reset)],
    ['with a reset right after it', then(ok, reset)],
    [
      'followed by another one that nobody asked for',
      say('HTTP/1.1 200 OK', 'content-length: 0', '', 'HTTP/1.1 500 No', 'content-length: 0', '', ''),
    ],
    ['whose trailers never end', flood('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'x-more: 1\r\n')],
    [
      'whose chunk extension never ends',
      flood('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'x'.repeat(1000)),
    ],
  ])('%s', async (_case, behaviour) => {
    receiver.behave(behaviour);
    const result = await send({ by: hasty });
    expect(result).toMatchObject({ errorCategory: null, posts: 1, errorCode: null, remoteAddress: '127.0.0.1' });
    expect(result.httpStatus === 200 || result.httpStatus === 204).toBe(true);
    // The next request gets its own answer, on a connection with no bytes left over.
    receiver.behave(say('HTTP/1.1 201 Created', 'content-length: 0', '', ''));
    expect(await send({ by: hasty })).toMatchObject({ httpStatus: 201, posts: 1, isComplete: true });
  });

  test('even if it comes before the request was read', async () => {
    receiver.behave(
      () => undefined,
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await send()).toMatchObject({ errorCategory: null, httpStatus: 200 });
  });

  test('while its body arrives slowly, and the attempt ends at the time limit for bodies', async () => {
    receiver.behave(flood('HTTP/1.1 200 OK\r\n\r\n', 'x', 20));
    // Without its own limit for the body this attempt would not end.
    const patient = senderTo({ timeoutMs: 3_600_000, bodyTimeoutMs: 300 });
    const result = await send({ by: patient });
    await patient.close();
    expect(result).toMatchObject({ errorCategory: null, httpStatus: 200, posts: 1, isComplete: false });
  });

  test('and a failure with a slow body keeps its category and Retry-After', async () => {
    receiver.behave(flood('HTTP/1.1 503 No\r\nretry-after: 7\r\n\r\n', 'x', 20));
    expect(await send({ by: hasty })).toMatchObject({ errorCategory: 'http_5xx', retryAfterSeconds: 7, posts: 1 });
  });
});

test('the status 999 is a protocol error', async () => {
  receiver.behave(say('HTTP/1.1 999 OK', 'content-length: 0', '', ''));
  expect(await send()).toMatchObject({ errorCategory: 'protocol_error', httpStatus: 999, posts: 1 });
});

describe('an attempt gets no answer', () => {
  test.each<[string, Behaviour, string]>([
    ['interim answers without end', flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), 'protocol_error'],
    ['a status line without end', flood('HTTP/1.1 200 ', 'x'.repeat(1000)), 'protocol_error'],
    ['interim headers without end', flood('HTTP/1.1 103 Early Hints\r\n', 'x: 1\r\n'.repeat(100)), 'protocol_error'],
    [
      'another protocol',
      say('HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: upgrade', '', ''),
      'protocol_error',
    ],
    ['"continue" and the end', then(say('HTTP/1.1 100 Continue', '', ''), (s) => s.end()), 'connection_reset'],
    ['a status of two digits', say('HTTP/1.1 20 OK', '', ''), 'protocol_error'],
    ['bytes that are no HTTP', say('\0\x01\x02nonsense', '', ''), 'protocol_error'],
    ['the preface of HTTP/2', say('PRI * HTTP/2.0', '', 'SM', '', ''), 'protocol_error'],
    ['the end of the connection', (socket) => void socket.end(), 'connection_reset'],
    ['the end of TCP, without a word of TLS', endTcpOnly, 'connection_reset'],
    ['a reset', reset, 'connection_reset'],
    ['half a status line and the end', then(say('HTTP/1.1 20'), (s) => s.end()), 'connection_reset'],
  ])('when the receiver sends %s', async (_case, behaviour, errorCategory) => {
    receiver.behave(behaviour);
    expect(await send({ by: hasty })).toMatchObject({ errorCategory, httpStatus: null, posts: 1 });
  });

  test.each<[string, Behaviour]>([
    ['a byte of its status line', flood('HTTP/1.1 200 ', 'x', 50)],
    ['interim answers', flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 200)],
  ])('in its time, when the receiver sends %s now and then', async (what, behaviour) => {
    const host = `${what.replaceAll(' ', '-')}.raw.io`;
    // Connects first, because that may take a busy machine longer than the attempt's time limit.
    receiver.behave(say('HTTP/1.1 200 OK', 'keep-alive: timeout=60', 'content-length: 0', '', ''));
    await eventually(async () => expect(await send({ host, by: fleeting })).toMatchObject({ httpStatus: 200 }));
    receiver.behave(behaviour);
    const slow = await send({ host, by: fleeting });
    expect(slow).toMatchObject({ errorCategory: 'response_timeout', httpStatus: null, posts: 1 });
  });

  test('when the receiver closes right after the handshake', async () => {
    receiver.behave(ok, (socket) => void socket.destroy());
    const { errorCategory, posts } = await send({ by: hasty });
    expect({ errorCategory, posts: posts <= 1 }).toEqual({ errorCategory: 'connection_reset', posts: true });
  });

  test('unless it arrived while our process was frozen', async () => {
    const flags = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(answersWhenTold, {
      eval: true,
      workerData: { flags, ...(await authority.certify('frozen.raw.io')) },
    });
    const port = await new Promise<number>((resolve) => worker.once('message', resolve));
    const frozen = senderTo({ timeoutMs: 4_000, port });
    const requested = new Promise((resolve) => worker.once('message', resolve));
    const startedMs = performance.now();
    const sent = send({ host: 'frozen.raw.io', by: frozen });
    await requested;
    // From here on this thread is blocked until the receiver has answered and the attempt's time has passed.
    Atomics.store(flags, 0, 1);
    Atomics.notify(flags, 0);
    Atomics.wait(flags, 1, 0, 5_000);
    Atomics.wait(flags, 1, 1, Math.max(0, 4_100 - (performance.now() - startedMs)));
    expect(await sent).toMatchObject({ errorCategory: null, httpStatus: 200 });
    await Promise.all([frozen.close(), worker.terminate()]);
  });
});

/** A receiver in its own thread: answers when the first flag is set, and then sets the second. */
const answersWhenTold = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { flags, cert, key } = workerData;
  const server = require('node:https').createServer({ cert, key }, (request, response) => {
    request.resume().on('end', () => {
      parentPort.postMessage('requested');
      Atomics.wait(flags, 0, 0, 5000);
      response.end('', () => setTimeout(() => { Atomics.store(flags, 1, 1); Atomics.notify(flags, 1); }, 50));
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('an attempt makes one POST', () => {
  /** What may happen to a connection, at the worst moments for a client that keeps it. */
  const endings: Record<string, Behaviour> = {
    ok,
    'ok, then closed': then(ok, (socket) => socket.end()),
    'ok, then reset': then(ok, reset),
    'ok with the close in the same flight': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    'ok, closed at the next request': (socket, { onThisConnection, ...request }) =>
      onThisConnection === 1 ? ok(socket, { onThisConnection, ...request }) : void socket.destroy(),
    'ok, reset at the next request': (socket, { onThisConnection, ...request }) =>
      onThisConnection === 1 ? ok(socket, { onThisConnection, ...request }) : reset(socket),
    'ok, then a stray answer': then(ok, (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')),
    'ok, then garbage': then(ok, (socket) => void socket.write('garbage')),
    'ok, kept for no time': say('HTTP/1.1 200 OK', 'keep-alive: timeout=1', 'content-length: 0', '', ''),
    'closed unanswered': (socket) => void socket.destroy(),
    'half an answer': then(say('HTTP/1.1 2'), (socket) => socket.destroy()),
    'interim, then closed': then(say('HTTP/1.1 103 Early Hints', '', ''), (socket) => socket.destroy()),
    'body without end': say('HTTP/1.1 200 OK', 'content-length: 9', '', 'x'),
  };

  test('at any time at which the receiver closes idle connections, so that no event comes twice', async () => {
    const names = Object.keys(endings);
    const plan = fc.array(
      fc.record({
        ending: fc.constantFrom(...names),
        pauseMs: fc.constantFrom(0, 0, 1, 3),
        atOnce: fc.integer({ min: 1, max: 4 }),
      }),
      {
        minLength: 4,
        maxLength: 12,
      },
    );
    const impatient = senderTo({ bodyTimeoutMs: 30 });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        runs += 1;
        const host = `run${runs}.raw.io`;
        const answered: string[] = [];
        // An unrequested answer may be taken for the answer to the next request, which then proves nothing.
        const hasStray = steps.some(({ ending }) => ending === 'ok, then a stray answer');
        for (const { ending, pauseMs, atOnce } of steps) {
          receiver.behave(endings[ending]!);
          const results = await Promise.all(Array.from({ length: atOnce }, () => send({ host, by: impatient })));
          for (const { eventId, errorCategory, posts } of results) {
            expect(posts).toBeLessThanOrEqual(1);
            expect([null, 'connection_reset', 'protocol_error']).toContain(errorCategory);
            if (errorCategory === null && !hasStray) answered.push(eventId);
          }
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        await eventually(() => expect(receiver.events).toEqual(expect.arrayContaining(answered)));
      }),
      { numRuns: 40 },
    );
    await impatient.close();
    const all = receiver.events;
    expect(new Set(all).size).toBe(all.length);
    // Connections were kept, or the test would have shown nothing.
    expect(receiver.connections()).toBeLessThan(all.length);
  }, 300_000);

  test('or none, now or later, if it times out before it has a connection', async () => {
    let connect = (): void => undefined;
    let closed = false;
    const gate = new Promise<void>((resolve) => (connect = resolve));
    const connector = createConnector({
      resolve: async () => ['8.8.8.8'],
      dial: async ({ host }) => {
        await gate;
        const socket = await openTls({ address: '127.0.0.1', port: receiver.port, host, timeoutMs: 5_000 });
        return socket.once('close', () => (closed = true));
      },
    });
    const slow = createSender({ connector, clock: () => new Date(), timeoutMs: 200 });
    const { eventId, ...sent } = await send({ by: slow });
    expect(sent).toMatchObject({ errorCategory: 'connect_timeout', remoteAddress: null, isComplete: false });
    expect(closed).toBe(false);
    connect();
    await eventually(() => expect(closed).toBe(true));
    await slow.close();
    expect(receiver.events).not.toContain(eventId);
  });
});
