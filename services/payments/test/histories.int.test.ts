import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { beginHistory } from './history.ts';
import { openSharedDatabase, type SharedDatabase } from './model/world.ts';

/*
 * The table of histories of docs/adr/0062, row by row, where the chain's clock is correct. The service itself creates, cancels and expires
 * payments on a clock that the test moves, and transfers come as chain-watcher sends them. The other rows are in histories-of-outages and
 * histories-of-clocks; tests/journeys has them with a real chain.
 *
 * They prove that late money does not pay the next order (finding 1 of issue 34); the row with two merchants also that nobody gets a
 * stranger's money (finding 3).
 */

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

const nothing = { unmatched: [], page: null };

describe('A expired 10:00:00, T in block 10:00:01, published late; B created 10:00:09, nobody pays B', () => {
  const lateForA = { status: 'EXPIRED', unmatched: ['T late, 1 of them'], page: '10' };
  const noticed = 'T unmatched: late, candidates A, only A';

  test.each([
    ['read live', true],
    // Then its interval reaches into B's window, the question about B finds it, and it is decided again.
    ['read while catching up', false],
  ])('T stays late for A; B expires (%s)', async (_reading, live) => {
    const history = await beginHistory(world);
    await history.now('09:30:00');
    await history.create('A');
    await history.now('10:00:03');
    await history.expire('10:00:02');
    history.transfer('T', { block: '10:00:01', read: '10:00:02.400', live });
    await history.tell({ T: 'seen' });
    await history.tell({ T: 'confirmed' });
    expect(await history.shown('A')).toEqual(lateForA);
    await history.now('10:00:09');
    await history.create('B');
    expect(await history.shown('B')).toEqual({ status: 'PENDING', ...nothing });
    await history.now('10:30:12');
    await history.expire('10:30:10');
    expect(await history.shown('A')).toEqual(lateForA);
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...nothing });
    expect(await history.events()).toEqual(['A expired', noticed, 'B expired']);
    expect(await history.found('T')).toEqual([{ payment: 'A', reason: 'late', candidates: ['A'], elsewhere: false }]);
  });

  test('the same where T is confirmed before A is EXPIRED: the notice about A says that money may be for it', async () => {
    const history = await beginHistory(world);
    await history.now('09:30:00');
    await history.create('A');
    await history.now('10:00:06');
    history.transfer('T', { block: '10:00:01', read: '10:00:01.400' });
    await history.tell({ T: 'confirmed' });
    // An unfinished payment never has a late transfer.
    expect(await history.shown('A')).toEqual({ status: 'PENDING', ...nothing });
    expect(await history.events()).toEqual([]);
    await history.expire('10:00:05');
    await history.now('10:00:09');
    await history.create('B');
    await history.now('10:30:12');
    await history.expire('10:30:10');
    expect(await history.shown('A')).toEqual(lateForA);
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...nothing });
    expect(await history.events()).toEqual([noticed, 'A expired, 1 may be for it', 'B expired']);
  });

  test('the same, but T first read 0.3 s before B is created, confirmed after', async () => {
    const history = await beginHistory(world);
    await history.now('09:30:00');
    await history.create('A');
    await history.now('10:00:03');
    await history.expire('10:00:02');
    // In the same second, which is B's by block time, but not for money known before.
    await history.now('10:00:09.200');
    history.transfer('T', { block: '10:00:01', read: '10:00:09.200' });
    await history.now('10:00:09.500');
    await history.create('B');
    await history.tell({ T: 'seen' });
    expect(await history.shown('B')).toEqual({ status: 'PENDING', ...nothing });
    await history.now('10:00:12');
    await history.tell({ T: 'confirmed' });
    await history.now('10:30:12');
    await history.expire('10:30:10');
    expect(await history.shown('A')).toEqual(lateForA);
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...nothing });
    expect(await history.events()).toEqual(['A expired', noticed, 'B expired']);
  });

  test('the same, and B is cancelled and ordered again within the second', async () => {
    const history = await beginHistory(world);
    await history.now('07:30:00');
    await history.create('A');
    await history.now('08:00:03');
    await history.expire('08:00:02');
    await history.now('10:00:09.200');
    history.transfer('T', { block: '10:00:09', read: '10:00:09.200' });
    for (const [name, time] of [
      ['B', '10:00:09.500'],
      ['C', '10:00:09.700'],
    ] as const) {
      await history.now(time);
      await history.create(name);
      await history.cancel(name);
    }
    await history.tell({ T: 'confirmed' });
    expect(await history.shown('A')).toEqual(lateForA);
    expect(await history.events()).toEqual(['A expired', 'B cancelled', 'C cancelled', noticed]);
  });

  test('the same, and the question about B finds T before a message does', async () => {
    const history = await beginHistory(world);
    await history.now('09:30:00');
    await history.create('A');
    await history.now('10:00:03');
    await history.expire('10:00:02');
    await history.now('10:00:09');
    await history.create('B');
    history.transfer('T', { block: '10:00:01', read: '10:00:05', live: false });
    history.confirmUnheard('T');
    await history.now('10:30:12');
    await history.expire('10:30:10');
    expect(await history.shown('A')).toEqual(lateForA);
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...nothing });
    expect(await history.events()).toEqual(['A expired', noticed, 'B expired']);
  });
});

test('network asleep (a look a minute): A ended 9:40; T in block 10:00:01; B created 10:00:40, first look 10:00:41: T is late for A', async () => {
  const history = await beginHistory(world);
  await history.now('09:10:00');
  await history.create('A');
  await history.now('09:41:00');
  await history.expire('09:40:30');
  await history.now('10:00:40');
  await history.create('B');
  await history.now('10:00:41');
  history.transfer('T', { block: '10:00:01', read: '10:00:41', live: false });
  await history.tell({ T: 'seen' });
  expect(await history.shown('B')).toEqual({ status: 'PENDING', ...nothing });
  await history.tell({ T: 'confirmed' });
  await history.now('10:31:00');
  await history.expire('10:30:50');
  expect(await history.shown('A')).toEqual({ status: 'EXPIRED', unmatched: ['T late, 1 of them'], page: '10' });
  expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...nothing });
  expect(await history.events()).toEqual(['A expired', 'T unmatched: late, candidates A, only A', 'B expired']);
});

describe('A cancelled 10:00:00.2, B created 10:00:00.4', () => {
  const cancelledAndCreated = async ({ orderId, merchant = 'one' }: { orderId?: string; merchant?: 'one' | 'two' }) => {
    const history = await beginHistory(world, { walletBinding: merchant === 'one' });
    const order = orderId === undefined ? {} : { orderId };
    await history.now('09:50:00');
    await history.create('A', order);
    await history.now('10:00:00.200');
    await history.cancel('A');
    await history.now('10:00:00.400');
    await history.create('B', { ...order, merchant });
    return history;
  };
  const paid = async (history: Awaited<ReturnType<typeof cancelledAndCreated>>, block: string) => {
    await history.now(`${block}.500`);
    history.transfer('T', { block, read: `${block}.500` });
    await history.tell({ T: 'seen' });
    await history.tell({ T: 'confirmed' });
  };
  const mayBe = { unmatched: ['T ambiguous, 2 of them'], page: '10' };

  test('T in block 10:00:02: ambiguous', async () => {
    const history = await cancelledAndCreated({});
    await paid(history, '10:00:02');
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...mayBe });
    expect(await history.shown('B')).toEqual({ status: 'PENDING', ...mayBe });
    await history.now('10:30:05');
    await history.expire('10:30:03');
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...mayBe });
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...mayBe });
    expect(await history.events()).toEqual([
      'A cancelled',
      'T unmatched: ambiguous, candidates A B',
      'B expired, 1 may be for it',
    ]);
    const found = { payment: null, reason: 'ambiguous', candidates: ['A', 'B'], elsewhere: false };
    expect(await history.found('T')).toEqual([found]);
  });

  test('T in block 10:00:20: B is PAID; A lists paid_another', async () => {
    const history = await cancelledAndCreated({});
    await paid(history, '10:00:20');
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', unmatched: ['paid_another'], page: null });
    expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.events()).toEqual(['A cancelled', 'B checking by T', 'B PAID by T']);
  });

  test.each(['10:00:02', '10:00:20'])('T in block %s, A and B with one order_id: B is PAID', async (block) => {
    const history = await cancelledAndCreated({ orderId: 'order-7' });
    await paid(history, block);
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', unmatched: ['paid_another'], page: null });
    expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.events()).toEqual(['A cancelled', 'B checking by T', 'B PAID by T']);
  });

  test('T in block 10:00:02, with one order_id but two merchants (WALLET_BINDING=off): ambiguous; each merchant is notified of its own payment and that another one fits', async () => {
    const history = await cancelledAndCreated({ orderId: 'order-7', merchant: 'two' });
    await paid(history, '10:00:02');
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...mayBe });
    expect(await history.shown('B')).toEqual({ status: 'PENDING', ...mayBe });
    expect(await history.events('one')).toEqual(['A cancelled', 'T unmatched: ambiguous, candidates A, and elsewhere']);
    expect(await history.events('two')).toEqual(['T unmatched: ambiguous, candidates B, and elsewhere']);
    const own = (candidate: string) => ({
      candidates: [candidate],
      payment: null,
      reason: 'ambiguous',
      elsewhere: true,
    });
    expect(await history.found('T', 'one')).toEqual([own('A')]);
    expect(await history.found('T', 'two')).toEqual([own('B')]);
    // Neither merchant can accept it alone, whatever number it confirms.
    for (const confirmed of [null, 1, 2]) {
      expect(await history.accept('A', 'T', confirmed)).toMatch(/^409 .*only an operator can accept it/);
      expect(await history.accept('B', 'T', confirmed)).toMatch(/^409 .*only an operator can accept it/);
    }
    expect(await history.accept('B', 'T', 2, 'operator')).toBe('200');
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', unmatched: ['paid_another'], page: null });
    expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.events('one')).toHaveLength(2);
    expect((await history.events('two')).slice(1)).toEqual(['B PAID by T, accepted as ambiguous']);
  });
});

test.each([
  ['10:00:00', []],
  ['10:00:01', ['paid_another']],
])('A expired 10:00:00.2, B of the same order created 10:00:00.4, T in block %s: A lists %j', async (block, listed) => {
  const history = await beginHistory(world);
  await history.now('09:30:00.200');
  await history.create('A', { orderId: 'order-7' });
  await history.now('10:00:00.300');
  await history.expire('10:00:01');
  await history.now('10:00:00.400');
  await history.create('B', { orderId: 'order-7' });
  await history.now('10:00:01.500');
  history.transfer('T', { block, read: '10:00:01.500' });
  await history.tell({ T: 'confirmed' });
  expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
  // It had not expired when the second of the block began.
  expect(await history.shown('A')).toEqual({ status: 'EXPIRED', unmatched: listed, page: null });
});

describe('A cancelled 10:00:00, B created 10:05:00', () => {
  test.each([
    ['10:05:02', 'ambiguous'],
    ['10:05:30', 'B is PAID'],
  ])('T in block %s: %s', async (block, right) => {
    const history = await beginHistory(world);
    await history.now('09:50:00');
    await history.create('A');
    await history.now('10:00:00');
    await history.cancel('A');
    await history.now('10:05:00');
    await history.create('B');
    await history.now(`${block}.500`);
    history.transfer('T', { block, read: `${block}.500` });
    await history.tell({ T: 'confirmed' });
    const [a, b] = [await history.shown('A'), await history.shown('B')];
    const events = await history.events();
    if (right === 'ambiguous') {
      const mayBe = { unmatched: ['T ambiguous, 2 of them'], page: '10' };
      expect([a, b]).toEqual([
        { status: 'CANCELLED', ...mayBe },
        { status: 'PENDING', ...mayBe },
      ]);
      expect(events).toEqual(['A cancelled', 'T unmatched: ambiguous, candidates A B']);
    } else {
      expect([a, b]).toEqual([
        { status: 'CANCELLED', unmatched: ['paid_another'], page: null },
        { status: 'PAID by T', ...nothing },
      ]);
      expect(events).toEqual(['A cancelled', 'B PAID by T']);
    }
  });
});
