import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Behaviours, parseBehaviour } from '../behaviour.ts';
import { Mailbox } from '../mailbox.ts';
import { signatureProblem } from '../signature.ts';

const signingKey = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const keys = new Map([['whk_1', signingKey]]);
const receivedAt = new Date('2026-01-02T03:04:05Z');
const seconds = Math.floor(receivedAt.getTime() / 1000);

function signed(change: { timestamp?: string; body?: string; headers?: Record<string, string> } = {}) {
  const { timestamp = String(seconds), body = '{"event_id":"evt_1","status":"PAID"}', headers = {} } = change;
  const hex = createHmac('sha256', signingKey).update(`${timestamp}.${body}`).digest('hex');
  return {
    receivedAt,
    body: Buffer.from(body),
    headers: {
      'x-service-timestamp': timestamp,
      'x-service-signature': `v1=${hex}`,
      'x-service-event-id': 'evt_1',
      'x-service-key-id': 'whk_1',
      ...headers,
    },
  };
}

test('a correctly signed webhook has no problem, up to 300 seconds either way', () => {
  expect(signatureProblem(signed(), keys)).toBeNull();
  expect(signatureProblem(signed({ timestamp: String(seconds - 300) }), keys)).toBeNull();
  expect(signatureProblem(signed({ timestamp: String(seconds + 300) }), keys)).toBeNull();
});

test.each([
  ['unknown key id', signed({ headers: { 'x-service-key-id': 'whk_2' } })],
  ['malformed timestamp', signed({ timestamp: `${seconds}.0` })],
  ['malformed timestamp', signed({ timestamp: `000${seconds}` })],
  ['malformed timestamp', signed({ timestamp: '' })],
  ['timestamp too far from now', signed({ timestamp: String(seconds - 301) })],
  ['wrong signature', signed({ headers: { 'x-service-signature': `v1=${'0'.repeat(64)}` } })],
  ['wrong signature', { ...signed(), body: Buffer.from('{"event_id":"evt_1","status":"PENDING"}') }],
  ['event id in the header is not that in the body', signed({ headers: { 'x-service-event-id': 'evt_2' } })],
  ['event id in the header is not that in the body', signed({ body: 'no json' })],
])('%s is found', (problem, delivery) => {
  expect(signatureProblem(delivery, keys)).toBe(problem);
});

test('a key may become known after its first webhook', () => {
  const mailbox = new Mailbox();
  mailbox.add({ ...signed(), method: 'POST', host: 'shop.example', path: '/', answer: '200' });
  expect(mailbox.list(null)[0]?.problem).toBe('unknown key id');
  mailbox.trust('whk_1', signingKey);
  expect(mailbox.list('shop.example')[0]).toMatchObject({ verified: true, problem: null, body: { event_id: 'evt_1' } });
  expect(mailbox.list('other.example')).toEqual([]);
});

test('the mailbox drops its oldest webhooks, so that it has a maximum size', () => {
  const mailbox = new Mailbox();
  const body = Buffer.alloc(1024 * 1024);
  for (let n = 0; n < 100; n += 1)
    mailbox.add({ receivedAt, headers: {}, body, method: 'POST', host: 'a', path: String(n), answer: '200' });
  const kept = mailbox.list(null);
  expect(kept.length).toBeLessThanOrEqual(32);
  expect(kept.at(-1)?.path).toBe('99');
});

test('a behaviour applies to its host as often as it says, and a host’s own behaviour comes before the general one', () => {
  const behaviours = new Behaviours();
  behaviours.set({ status: 503 });
  behaviours.set({ host: 'Shop.example', status: 500, times: 2 });
  expect([1, 2, 3].map(() => behaviours.next('shop.example').status)).toEqual([500, 500, 503]);
  behaviours.set({ host: 'other.example', status: 500 });
  behaviours.clear('Other.example');
  expect(behaviours.next('other.example').status).toBe(503);
  behaviours.clear();
  expect(behaviours.next('shop.example')).toEqual({});
});

test.each([
  [null],
  [[]],
  [{ status: 99 }],
  [{ status: '500' }],
  [{ delay_ms: -1 }],
  [{ hang: 'yes' }],
  [{ colour: 'red' }],
])('the behaviour %j is refused', (value) => {
  expect(() => parseBehaviour(value)).toThrow();
});
