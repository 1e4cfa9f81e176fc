import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import { fetchReceiver, nodeReceiver, type WebhookEvent } from '../src/index.ts';

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

const options = {
  keys: () => ({ [keyId]: key }),
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

test.each(ways)('%s: what is not to be believed is not handled, and told to onError', async (_name, send) => {
  const forged = { ...signed(body), body: body.replace('10.50', '0.01') };
  expect((await send(forged)).status).toBe(400);
  // Comes again later, when the clock or the key is right.
  expect((await send(signed(body, 1_000_000_000))).status).toBe(401);
  expect(events).toEqual([]);
  expect(errors).toMatchObject([{ problem: 'signature_wrong' }, { problem: 'timestamp_out_of_tolerance' }]);
});

test.each(ways)('%s: an error of the handler is a 500, so that the event comes again', async (_name, send) => {
  isBroken = true;
  expect((await send(signed(body))).status).toBe(500);
  expect(errors).toMatchObject([{ message: 'the database is away' }]);
});

test.each(ways)('%s: a body that no event has is refused', async (_name, send) => {
  expect((await send(signed('x'.repeat(70_000)))).status).toBe(413);
});

test('a parser that took the raw body is an error that says so', async () => {
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/parsed`, signed(body));
  expect(answer.status).toBe(500);
  expect(errors).toMatchObject([{ message: 'the raw body is gone: mount the receiver before express.json()' }]);
});

test('only POST is taken', async () => {
  expect((await fetchReceive(new Request('https://shop.example/webhook'))).status).toBe(405);
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/node`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});
