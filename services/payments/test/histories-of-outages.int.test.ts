import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { beginHistory } from './history.ts';
import { openSharedDatabase, type SharedDatabase } from './model/world.ts';

/*
 * The rows of the table of histories (docs/adr/0062) in which chain-watcher is late, and in which several messages arrive together;
 * histories.int.test.ts has the others.
 *
 * The row of one batch proves that T2 is no duplicate of T1 (finding 8 of issue 34); those of outages that a day of downtime doesn't change
 * who paid.
 */

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

const nothing = { unmatched: [], page: null };

test('watcher down 9:00–11:00; A created 9:10, cancelled 9:40, T at 9:20; B created 9:41: A is PAID', async () => {
  const history = await beginHistory(world, { ttlSeconds: 3600 });
  await history.now('09:10:00');
  await history.create('A');
  await history.now('09:40:00');
  await history.cancel('A');
  await history.now('09:41:00');
  await history.create('B');
  await history.now('11:00:05');
  history.transfer('T', { block: '09:20:00', read: '11:00:05', live: false });
  await history.tell({ T: 'seen' });
  // The money came in time, but A is closed: nothing changes before it is confirmed.
  expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...nothing, page: '10' });
  await history.tell({ T: 'confirmed' });
  await history.expire('11:00:00');
  expect(await history.shown('A')).toEqual({ status: 'PAID by T', ...nothing });
  expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...nothing });
  expect(await history.events()).toEqual(['A cancelled', 'A PAID by T', 'B expired']);
});

describe('a day’s outage, T 4 s before B’s created_at', () => {
  const beginning = async (endOfA: string | null) => {
    const history = await beginHistory(world);
    if (endOfA !== null) {
      await history.now('08:40:00');
      await history.create('A');
      await history.now(endOfA);
      await history.cancel('A');
    }
    await history.now('10:00:00');
    await history.create('B');
    await history.now('2031-03-12T10:00:00');
    history.transfer('T', { block: '09:59:56', read: '2031-03-12T10:00:00', live: false });
    return history;
  };

  test.each([null, '08:59:59'])(
    'nothing else in the slot for an hour before (A cancelled: %s): B is PAID',
    async (endOfA) => {
      const history = await beginning(endOfA);
      await history.tell({ T: 'seen' });
      await history.tell({ T: 'confirmed' });
      await history.expire('2031-03-12T09:59:58');
      expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
      if (endOfA !== null) expect(await history.shown('A')).toMatchObject({ status: 'CANCELLED', page: null });
      expect((await history.events()).filter((line) => !line.startsWith('A'))).toEqual([
        'B checking by T',
        'B PAID by T',
      ]);
    },
  );

  test('the same, and the question about B finds T before a message does', async () => {
    const history = await beginning(null);
    history.confirmUnheard('T');
    await history.expire('2031-03-12T09:59:58');
    expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.events()).toEqual(['B PAID by T']);
  });

  test('A of the slot was cancelled within the hour before: ambiguous', async () => {
    const history = await beginning('09:00:01');
    await history.tell({ T: 'confirmed' });
    await history.expire('2031-03-12T09:59:58');
    // A day later nobody is about to pay B, and its page no longer shows the money.
    const mayBe = { unmatched: ['T ambiguous, 2 of them'] };
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...mayBe, page: null });
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...mayBe, page: '10' });
    expect(await history.events()).toEqual([
      'A cancelled',
      'T unmatched: ambiguous, candidates A B',
      'B expired, 1 may be for it',
    ]);
  });

  test('A of the slot was PAID and ended within the hour before: ambiguous, and only B still needs money', async () => {
    const history = await beginHistory(world);
    await history.now('09:25:00');
    await history.create('A');
    await history.now('09:30:01');
    history.transfer('first', { block: '09:30:00', read: '09:30:01' });
    await history.tell({ first: 'confirmed' });
    await history.now('10:00:00');
    await history.create('B');
    await history.now('2031-03-12T10:00:00');
    history.transfer('T', { block: '09:59:56', read: '2031-03-12T10:00:00', live: false });
    await history.tell({ T: 'confirmed' });
    expect(await history.shown('A')).toEqual({ status: 'PAID by first', ...nothing });
    expect(await history.shown('B')).toEqual({ status: 'PENDING', unmatched: ['T ambiguous, 1 of them'], page: '10' });
    expect(await history.events()).toEqual(['A PAID by first', 'T unmatched: ambiguous, candidates B, only B']);
  });
});

describe('one batch: T1 retracted, T2 confirmed, same payment', () => {
  test.each([
    ['T1 before T2', ['T1', 'T2']],
    ['T2 before T1', ['T2', 'T1']],
  ])('%s: T2 pays; no duplicate is notified', async (_order, names) => {
    const history = await beginHistory(world);
    await history.now('10:00:00');
    await history.create('A');
    await history.now('10:01:00');
    history.transfer('T1', { block: '10:00:58', read: '10:00:59' });
    history.transfer('T2', { block: '10:00:58', read: '10:00:59' });
    await history.tell({ T1: 'seen', T2: 'seen' });
    expect(await history.shown('A')).toMatchObject({
      status: 'CHECKING by T1',
      unmatched: ['T2 duplicate, 1 of them'],
    });
    const news = { T1: 'retracted', T2: 'confirmed' } as const;
    await history.tell(Object.fromEntries(names.map((name) => [name, news[name as keyof typeof news]])));
    expect(await history.shown('A')).toEqual({ status: 'PAID by T2', ...nothing });
    expect(await history.events()).toEqual(['A checking by T1', 'A PAID by T2']);
  });
});

describe('one batch: T1 came before A or after its end, T2 pays A', () => {
  test.each([
    ['before A', '09:59:43', []],
    ['after its end', '10:01:00', ['T1 duplicate, 1 of them']],
  ])('T1 came %s: A is PAID, and T1 is decided again immediately', async (_when, block, unmatched) => {
    const history = await beginHistory(world, { ttlSeconds: 60 });
    await history.now('10:00:00');
    await history.create('A');
    await history.now('10:01:01');
    history.transfer('T1', { block, read: '10:01:01', live: false });
    history.transfer('T2', { block: '10:00:30', read: '10:01:01', live: false });
    await history.tell({ T1: 'seen', T2: 'confirmed' });
    expect(await history.shown('A')).toEqual({ status: 'PAID by T2', unmatched, page: null });
    expect(await history.events()).toEqual(['A PAID by T2']);
  });
});

test('A is PAID, B is created in the same second, and one batch says that B is PAID and T ambiguous: both are candidates', async () => {
  const history = await beginHistory(world);
  await history.now('10:00:00.001');
  await history.create('A');
  await history.now('10:00:00.002');
  history.transfer('ofA', { block: '10:00:00', read: '10:00:00.002' });
  await history.tell({ ofA: 'confirmed' });
  await history.now('10:00:00.003');
  await history.create('B');
  await history.now('10:00:00.004');
  history.transfer('ofB', { block: '10:00:00', read: '10:00:00.004' });
  history.transfer('T', { block: '09:59:59', read: '10:00:00.004' });
  await history.tell({ ofB: 'confirmed', T: 'confirmed' });
  const mayBe = { unmatched: ['T ambiguous, 2 of them'], page: null };
  expect(await history.shown('A')).toEqual({ status: 'PAID by ofA', ...mayBe });
  expect(await history.shown('B')).toEqual({ status: 'PAID by ofB', ...mayBe });
  expect(await history.events()).toEqual(['A PAID by ofA', 'B PAID by ofB', 'T unmatched: ambiguous, candidates A B']);
});
