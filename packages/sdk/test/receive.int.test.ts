import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import express from 'express';
import {
  fetchReceiver,
  nodeReceiver,
  WebhookConfigurationError,
  type SigningKeys,
  type WebhookEvent,
} from '../src/index.ts';

const key = 'whsec_ThisIsAnExampleKeyThisIsAnExampleKeyThisIsA';
const keyId = 'whk_019b92f6b380782bbe9b51c79d69442d';
const body = JSON.stringify({ event_id: 'evt_1', payment_id: 'pay_1', status: 'PAID', expected_amount: '10.50' });

let events: WebhookEvent[];
let errors: unknown[];
let isBroken: boolean;
beforeEach(() => {
  events = [];
  errors = [];
  isBroken = false;
});

let keys: SigningKeys;
beforeEach(() => {
  keys = { [keyId]: key };
});

const options = {
  keys: () => keys,
  onEvent: (event: WebhookEvent) => {
    if (isBroken) throw new Error('the database is away');
    events.push(event);
  },
  onError: (error: unknown) => void errors.push(error),
};

function signed(sent: string, at = Math.floor(Date.now() / 1_000)): RequestInit {
  const signature = createHmac('sha256', key).update(`${at}.${sent}`).digest('hex');
  return {
    method: 'POST',
    body: sent,
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Timestamp': String(at),
      'X-Service-Signature': `v1=${signature}`,
      'X-Service-Event-ID': 'evt_1',
      'X-Service-Key-ID': keyId,
    },
  };
}

const app = express();
app.post('/express', nodeReceiver(options));
app.post('/raw', express.raw({ type: '*/*' }), nodeReceiver(options));
app.post('/parsed', express.json(), nodeReceiver(options));
const receive = nodeReceiver(options);
const server = createServer((request, response) => {
  if (request.url === '/node') void receive(request, response);
  else app(request, response);
});
const fetchReceive = fetchReceiver(options);

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ways: [string, (init: RequestInit) => Promise<Response>][] = [
  ...['/express', '/raw', '/node'].map((path): [string, (init: RequestInit) => Promise<Response>] => [
    path,
    (init) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, init),
  ]),
  ['fetch', (init) => fetchReceive(new Request('https://shop.example/webhook', init))],
];

test.each(ways)('%s: an event is handled and answered', async (_name, send) => {
  expect((await send(signed(body))).status).toBe(204);
  expect(events).toEqual([JSON.parse(body)]);
  expect(errors).toEqual([]);
});

test.each(ways)('%s: an untrusted request is not handled, and is passed to onError', async (_name, send) => {
  const forged = { ...signed(body), body: body.replace('10.50', '0.01') };
  expect((await send(forged)).status).toBe(400);
  // It is sent again later, when the clock or the key is right.
  expect((await send(signed(body, 1_000_000_000))).status).toBe(401);
  expect(events).toEqual([]);
  expect(errors).toMatchObject([{ problem: 'signature_wrong' }, { problem: 'timestamp_out_of_tolerance' }]);
});

test.each(ways)('%s: an error of the handler is a 500, so that the event is sent again', async (_name, send) => {
  isBroken = true;
  expect((await send(signed(body))).status).toBe(500);
  expect(errors).toMatchObject([{ message: 'the database is away' }]);
});

test.each(ways)('%s: a body that cannot be an event is refused', async (_name, send) => {
  expect((await send(signed('x'.repeat(70_000)))).status).toBe(413);
});

test('a parser that took the raw body is an error that says so', async () => {
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/parsed`, signed(body));
  expect(answer.status).toBe(500);
  expect(errors).toMatchObject([{ message: 'the raw body is gone: mount the receiver before express.json()' }]);
});

test('only POST is accepted', async () => {
  expect((await fetchReceive(new Request('https://shop.example/webhook'))).status).toBe(405);
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/node`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test.each(ways)('%s: keys that verify nothing are a 500, so that the event is sent again', async (_name, send) => {
  keys = { [keyId]: '' };
  expect((await send(signed(body))).status).toBe(500);
  expect(errors).toEqual([expect.any(WebhookConfigurationError)]);
  keys = { [keyId]: key };
  expect((await send(signed(body))).status).toBe(204);
});

test('without onError, keys that verify nothing are reported on the console, and forged requests are not', async () => {
  const written = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    const silent = fetchReceiver({ keys: () => keys, onEvent: options.onEvent });
    const forged = { ...signed(body), body: body.replace('10.50', '0.01') };
    expect((await silent(new Request('https://shop.example/webhook', forged))).status).toBe(400);
    expect(written).not.toHaveBeenCalled();
    keys = {};
    expect((await silent(new Request('https://shop.example/webhook', signed(body)))).status).toBe(500);
    expect(written.mock.calls).toEqual([[expect.any(WebhookConfigurationError)]]);
  } finally {
    written.mockRestore();
  }
});

/** 64 MiB, and how much of it was read. */
function largeBody() {
  const counted = { taken: 0 };
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    counted.taken += 16_384;
    controller.enqueue(new Uint8Array(16_384));
    if (counted.taken === 64 * 1024 * 1024) controller.close();
  };
  return { counted, stream: new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }) };
}

const { headers: signedHeaders } = signed('x') as { headers: Record<string, string> };
const aLittleMore = 5 * 16_384;

test.each([
  ['of no length', signedHeaders, 413, aLittleMore],
  ['whose length is wrong', { ...signedHeaders, 'Content-Length': '10' }, 413, aLittleMore],
  ['whose length is not a number', { ...signedHeaders, 'Content-Length': 'x' }, 413, aLittleMore],
  ['whose length is too large', { ...signedHeaders, 'Content-Length': '65537' }, 413, 0],
  ['that is not signed', { 'Transfer-Encoding': 'chunked' }, 400, 0],
])('fetch: of a body %s no more is read than the limit', async (_name, headers, status, mostTaken) => {
  const { counted, stream } = largeBody();
  const init = { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit;
  const answer = await fetchReceive(new Request('https://shop.example/webhook', init));
  expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
  expect(counted.taken).toBeLessThanOrEqual(mostTaken);
});

test('fetch: a body that other code has read is an error that says so', async () => {
  const request = new Request('https://shop.example/webhook', signed(body));
  await request.text();
  expect((await fetchReceive(request)).status).toBe(500);
  expect(errors).toMatchObject([{ message: expect.stringMatching(/^the raw body is gone/) }]);
});

/** Sends the beginning of a request. @returns the status once the connection is closed. */
async function statusUntilClosed(path: string, head: Record<string, string>, sent: string): Promise<number> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const lines = Object.entries({ Host: 'shop.example', ...head }).map(([name, value]) => `${name}: ${value}\r\n`);
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  // The part that was not read when the connection was closed.
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${sent}`);
  await once(socket, 'close');
  return Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(answer)?.[1]);
}

const chunk = `1400\r\n${'x'.repeat(0x1400)}\r\n`;

test.each(['/express', '/node'])('%s: an endless body is answered, and its connection closed', async (path) => {
  const chunked = { 'Transfer-Encoding': 'chunked' };
  expect(await statusUntilClosed(path, { ...signedHeaders, ...chunked }, chunk.repeat(14))).toBe(413);
  expect(await statusUntilClosed(path, { ...signedHeaders, 'Content-Length': '629145600' }, '')).toBe(413);
  expect(await statusUntilClosed(path, chunked, chunk)).toBe(400);
  expect(await statusUntilClosed(path, { 'Content-Length': '629145600' }, '')).toBe(413);
});

test.each(['/express', '/node'])('%s: an unsigned request is answered before its body has arrived', async (path) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1000\r\n\r\n`);
  const [refused] = (await once(socket, 'data')) as [Buffer];
  expect(refused.toString()).toMatch(/^HTTP\/1\.1 400 [^]*keep-alive/i);
  // The connection continues after the rest of it, because the sender may already have sent that.
  socket.write(`${'x'.repeat(1_000)}GET ${path} HTTP/1.1\r\nHost: shop.example\r\n\r\n`);
  const [next] = (await once(socket, 'data')) as [Buffer];
  expect(next.toString()).toMatch(/^HTTP\/1\.1 40[45] /);
  socket.destroy();
});
