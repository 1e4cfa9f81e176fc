import { expect, test } from '@jest/globals';
import { createHandedOver } from '../src/outbox/handed-over.ts';
import { createInFlight } from '../src/outbox/in-flight.ts';
import type { OutboxRow } from '../src/outbox/store.ts';

const rowsOf = (...ids: string[]): OutboxRow[] =>
  ids.map((id) => ({
    ...{ message_id: id, name: 'WebhookConfigured', version: 1, merchant_id: 'm', body: '{}', request_id: 'r' },
    ...{ traceparent: null, created_at: new Date(0) },
  }));
const idsOf = (rows: readonly OutboxRow[]) => rows.map((row) => row.message_id);

test('rows are taken in the order in which they were handed over, across transactions', () => {
  const handedOver = createHandedOver(10, () => 0);
  handedOver.add(rowsOf('a', 'b', 'c'), 1);
  handedOver.add(rowsOf('d', 'e'), 1);
  expect(idsOf(handedOver.take(2))).toEqual(['a', 'b']);
  expect(idsOf(handedOver.take(2))).toEqual(['c', 'd']);
  expect(handedOver.isEmpty()).toBe(false);
  expect(idsOf(handedOver.takeAll())).toEqual(['e']);
  expect(handedOver.isEmpty()).toBe(true);
});

test('only rows whose lease may end before they are published are given back', () => {
  let now = 0;
  const handedOver = createHandedOver(10, () => now);
  handedOver.add(rowsOf('a', 'b'), 10);
  handedOver.add(rowsOf('c'), 20);
  expect(handedOver.takeLate()).toEqual([]);
  now = 10;
  expect(idsOf(handedOver.takeLate())).toEqual(['a', 'b']);
  expect(idsOf(handedOver.take(5))).toEqual(['c']);
});

test('beyond its capacity it has no room', () => {
  const handedOver = createHandedOver(3);
  handedOver.add(rowsOf('a', 'b'), Infinity);
  expect([1, 2].map(handedOver.hasRoomFor)).toEqual([true, false]);
});

test('no more batches than allowed are in flight, and the next caller gets the error of a failed one', async () => {
  const inFlight = createInFlight(1);
  const { promise, reject } = Promise.withResolvers<undefined>();
  inFlight.start(() => promise);
  let hasRoom = false;
  const room = inFlight.room().then(() => (hasRoom = true));
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  reject(new Error('the database is away'));
  await expect(room).rejects.toThrow('the database is away');
  await inFlight.room();
  await inFlight.ended();
});
