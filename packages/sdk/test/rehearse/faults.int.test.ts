import { afterEach, describe, expect, test } from '@jest/globals';
import type { Stage } from '../../src/rehearse/check.ts';
import { checks } from '../../src/rehearse/checks/all.ts';
import { speed } from '../../src/rehearse/checks/time.ts';
import { inventPayment } from '../../src/rehearse/events.ts';
import { PAYMENTS_NEEDED, rehearse, REHEARSAL_KEYS, type Report } from '../../src/rehearse/rehearse.ts';
import { right, startReceiver, whileOthersCome, type Event, type Shop, type Steps } from './receiver.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Rehearses with a receiver that is correct except for the changes. Effects come before answers here, so there is no wait. */
async function rehearsalOf(changes: Partial<Steps>, { timeoutMs = 60_000, isSeen = true } = {}): Promise<Report> {
  const payments = Array.from({ length: PAYMENTS_NEEDED }, inventPayment);
  const { url, close, shop } = await startReceiver(changes, payments);
  closers.push(close);
  const effects = async () => shop.fulfilled;
  const seen = isSeen ? { payments, effects, effectsWaitMs: 0 } : {};
  return rehearse({ url, keys: REHEARSAL_KEYS, timeoutMs, ...seen });
}

const findings = ({ checks }: Report): string[] =>
  checks.flatMap(({ id, result }) => (result === 'fault' || result === 'advice' ? `${result} ${id}` : []));

test('a correct receiver has no finding, and everything is seen', async () => {
  const report = await rehearsalOf({});
  expect(report.checks.filter(({ result }) => result !== 'ok')).toEqual([]);
  expect(report.ok).toBe(true);
});

const paidOnly =
  (take: (event: Event, shop: Shop) => Promise<number> | number): Steps['take'] =>
  (event, _headers, shop) =>
    event.status === 'PAID' ? take(event, shop) : 204;

/** One fault each: its name, the only finding, and its implementation. */
const planted: [string, string, Partial<Steps>][] = [
  ['redirects', 'fault genuine', { answer: () => 301 }],
  ['has other keys', 'fault genuine', { keyOf: () => 'whsec_another' }],
  ['confirms events and does nothing', 'fault effect', { take: () => 204 }],
  [
    'does not remember events',
    'fault repeated',
    { take: paidOnly((event, shop) => (isPriceRight(event, shop) && shop.fulfil(event), 204)) },
  ],
  [
    'refuses known events',
    'fault repeated',
    {
      take: (event, headers, shop) => (shop.events.has(event.event_id) ? 409 : right.take(event, headers, shop)),
    },
  ],
  [
    'reads first and writes later',
    'fault copies',
    {
      take: paidOnly(async (event, shop) => {
        const isKnown = shop.fulfilled[String(event.payment_id)] !== undefined;
        await whileOthersCome();
        if (!isKnown && isPriceRight(event, shop)) shop.fulfil(event);
        return 204;
      }),
    },
  ],
  [
    'uses only event ids',
    'advice one_order',
    {
      take: paidOnly((event, shop) => {
        if (!shop.events.has(event.event_id) && isPriceRight(event, shop)) shop.fulfil(event);
        shop.events.add(event.event_id);
        return 204;
      }),
    },
  ],
  [
    'refuses what it has no time for',
    'fault several',
    {
      take: async (event, headers, shop) => {
        shop.inFlight += 1;
        const isBusy = shop.inFlight > 4;
        await whileOthersCome();
        shop.inFlight -= 1;
        return isBusy ? 503 : right.take(event, headers, shop);
      },
    },
  ],
  ['writes the JSON again', 'fault raw_body', { signedBytes: (body) => JSON.stringify(JSON.parse(body.toString())) }],
  ['reads Latin-1', 'fault text', { signedBytes: (body) => body.toString('latin1') }],
  ['takes 2 KiB', 'fault large', { maxBodyBytes: 2_048 }],
  [
    'has a strict schema',
    'fault unknown_fields',
    { take: (event, headers, shop) => ('tags' in event ? 400 : right.take(event, headers, shop)) },
  ],
  ['allows almost no difference of clocks', 'fault tolerance', { isRecent: (age) => Math.abs(age) <= 60 }],
  [
    'has only one key',
    'fault rotation',
    { keyOf: (id) => (id === REHEARSAL_KEYS[0].id ? REHEARSAL_KEYS[0].key : undefined) },
  ],
  ['checks no signature', 'fault signature', { isSame: () => true }],
  ['checks the length of signatures', 'fault signature', { isSame: (given, { length }) => given.length === length }],
  ['acts before it checks', 'fault signature', { first: (event, shop) => void right.take(event, {}, shop) }],
  ['answers 200 to everything', 'fault signature', { answer: () => 200 }],
  ['compares the beginning', 'fault whole_signature', { isSame: (given, expected) => expected.startsWith(given) }],
  [
    'accepts a missing signature',
    'fault whole_signature',
    { isSame: (given, right) => given === '' || given === right },
  ],
  ['uses an empty key for unknown ids', 'fault unknown_key', { keyOf: (id) => right.keyOf(id) ?? '' }],
  ['converts a missing key to text', 'fault unknown_key', { keyOf: (id) => String(right.keyOf(id)) }],
  ['does not check the time', 'fault timestamp', { isRecent: () => true }],
  ['checks only the past', 'fault timestamp', { isRecent: (age) => age <= 300 }],
  ['allows an hour', 'fault timestamp', { isRecent: (age) => Math.abs(age) <= 3_600 }],
  ['accepts every number as a timestamp', 'fault timestamp_form', { isTimestamp: (text) => text !== '' }],
  ['does not compare event ids', 'fault event_id', { isOf: () => true }],
  [
    'reads the first timestamp and signs the last',
    'fault doubled_headers',
    { timestampOf: (request) => right.timestampOf(request).split(', ')[0] ?? '' },
  ],
  ['treats an empty body as a ping', 'fault stranger', { isPing: (body) => body === '' }],
  ['accepts every method', 'fault method', { methods: ['POST', 'GET', 'PUT', 'DELETE'] }],
  [
    'refuses other kinds',
    'fault other_kinds',
    { take: (event, headers, shop) => (event.status === 'PAID' ? right.take(event, headers, shop) : 422) },
  ],
  [
    'fails for null',
    'fault other_kinds',
    {
      take: (event, headers, shop) => (event.payment_id === null ? 500 : right.take(event, headers, shop)),
    },
  ],
  [
    'acts on every unknown kind',
    'fault other_effects',
    {
      take: (event, headers, shop) =>
        right.take(
          ['EXPIRED', 'CANCELLED'].includes(event.status) ? event : { ...event, status: 'PAID' },
          headers,
          shop,
        ),
    },
  ],
  [
    'acts on tests',
    'fault other_effects',
    {
      take: (event, headers, shop) => {
        if (event.status === 'TEST') shop.fulfil(event);
        return right.take(event, headers, shop);
      },
    },
  ],
  [
    'undoes an order that has expired',
    'fault order',
    {
      take: (event, headers, shop) => {
        if (event.status === 'EXPIRED' && shop.fulfilled[String(event.payment_id)] === 1) {
          shop.fulfilled[String(event.payment_id)] = 0;
        }
        return right.take(event, headers, shop);
      },
    },
  ],
  [
    'gives up an order that has expired',
    'fault order',
    {
      take: (event, headers, shop) => {
        if (event.status === 'EXPIRED') shop.closed.add(String(event.payment_id));
        return shop.closed.has(String(event.payment_id)) ? 204 : right.take(event, headers, shop);
      },
    },
  ],
  [
    'does not check the amount',
    'fault amount',
    {
      take: paidOnly((event, shop) => {
        if (shop.fulfilled[String(event.payment_id)] === undefined) shop.fulfil(event);
        return 204;
      }),
    },
  ],
  ['fails instead of refusing', 'advice refusals', { answer: (status) => (status === 401 ? 500 : status) }],
];

test.each(planted)('a receiver that %s: %s', async (_fault, finding, changes) => {
  const report = await rehearsalOf(changes);
  expect(findings(report)).toEqual([finding]);
  expect(report.ok).toBe(!finding.startsWith('fault'));
});

test('there is a receiver with its fault for every check', () => {
  const found = new Set(planted.map(([, finding]) => finding.split(' ')[1]));
  // That one depends on time, and has its own test.
  expect(checks.filter(({ id }) => !found.has(id))).toEqual([speed]);
});

function isPriceRight(event: Event, shop: Shop): boolean {
  return shop.amounts.get(String(event.payment_id)) === event.expected_amount;
}

test('a receiver that never answers gets no further requests', async () => {
  const report = await rehearsalOf({ answer: () => 0 }, { timeoutMs: 300 });
  expect(findings(report)).toEqual(['fault genuine']);
  expect(report.checks[0]).toMatchObject({ seen: 'no answer within 0.3 s' });
  expect(report.checks.slice(1).every(({ result }) => result === 'unseen')).toBe(true);
});

test('a receiver that crashes on a refused request: the check after which it was gone', async () => {
  const report = await rehearsalOf({
    isSame: (given, expected) => {
      if (given.length !== expected.length) throw new RangeError('Input buffers must have the same byte length');
      return given === expected;
    },
    answer: (status) => (status === 400 ? -1 : status),
  });
  expect(findings(report)).toEqual(['fault whole_signature']);
  expect(report.checks.find(({ id }) => id === 'whole_signature')).toMatchObject({
    seen: 'after this the receiver no longer listened',
  });
  expect(report.checks.at(-1)).toMatchObject({ result: 'unseen' });
});

test('nothing listens at the URL', async () => {
  const { url, close } = await startReceiver({}, []);
  await close();
  const report = await rehearse({ url, keys: REHEARSAL_KEYS });
  expect(findings(report)).toEqual(['fault genuine']);
  expect(report.checks[0]).toMatchObject({ seen: 'ECONNREFUSED', todo: 'Start the receiver there, or fix the URL.' });
});

describe('what cannot be seen is not reported as ok', () => {
  const unseen = ({ checks }: Report): string[] => checks.flatMap(({ id, result }) => (result === 'unseen' ? id : []));

  test('without effects', async () => {
    const report = await rehearsalOf({ take: () => 204 }, { isSeen: false });
    expect(findings(report)).toEqual([]);
    expect(unseen(report)).toEqual(['effect', 'repeated', 'copies', 'one_order', 'other_effects', 'order', 'amount']);
  });

  test('without a previous key', async () => {
    const { url, close } = await startReceiver({}, []);
    closers.push(close);
    const report = await rehearse({ url, keys: [REHEARSAL_KEYS[0]] });
    expect(unseen(report)).toContain('rotation');
  });
});

test('all required payments are used', async () => {
  const payments = Array.from({ length: PAYMENTS_NEEDED - 1 }, inventPayment);
  const { url, close } = await startReceiver({}, payments);
  closers.push(close);
  await expect(rehearse({ url, keys: REHEARSAL_KEYS, payments })).rejects.toThrow('payments are needed');
});

test('effects are counted from the beginning, by payment or by order', async () => {
  const payments = Array.from({ length: PAYMENTS_NEEDED }, inventPayment);
  const { url, close, shop } = await startReceiver({}, payments);
  closers.push(close);
  const effects = async () =>
    Object.fromEntries(
      payments.map(({ payment_id: id, order_id: order = '' }) => [order, 5 + (shop.fulfilled[id] ?? 0)]),
    );
  const report = await rehearse({ url, keys: REHEARSAL_KEYS, payments, effects, timeoutMs: 60_000, effectsWaitMs: 0 });
  expect(report.checks.filter(({ result }) => result !== 'ok')).toEqual([]);
});

test('answers close to the time limit are advice', async () => {
  const slow = { slowestMs: 5_001, timeoutMs: 15_000 };
  expect((await speed.play(slow as Stage))(null)).toMatchObject({ result: 'advice' });
  slow.slowestMs = 5_000;
  expect((await speed.play(slow as Stage))(null)).toEqual({ result: 'ok' });
});
