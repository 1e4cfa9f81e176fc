import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { beginHistory } from './history.ts';
import { openSharedDatabase, type SharedDatabase } from './model/world.ts';

/*
 * The table of histories of docs/adr/0062, row by row, where the chain's clock is behind or ahead; histories.int.test.ts has the others.
 *
 * The rows of a chain 48 s behind prove that the exact payment of the only open order is PAID, that a cancelled order is not paid with the
 * next customer's money, and that an exact payment is never another payment's underpayment (finding 2 of issue 34). The acceptances prove
 * that nobody accepts the money of one of several candidates without knowing of the others (finding 3).
 */

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

const nothing = { unmatched: [], page: null };
const mayBe = { unmatched: ['T ambiguous, 2 of them'], page: '10' };

describe('A cancelled 10:00:25, B created 10:00:26, T at 10:00:40 by the wall, chain clock 48 s behind', () => {
  const noticed = 'T unmatched: ambiguous, candidates A B';
  const seenOnce = async () => {
    const history = await beginHistory(world);
    await history.now('09:50:00');
    await history.create('A');
    await history.now('10:00:25');
    await history.cancel('A');
    await history.now('10:00:26');
    await history.create('B');
    await history.now('10:00:41');
    history.transfer('T', { block: '09:59:52', read: '10:00:40.600' });
    await history.tell({ T: 'seen' });
    expect(await history.shown('B')).toEqual({ status: 'PENDING', ...mayBe });
    return history;
  };
  const paidOnce = async () => {
    const history = await seenOnce();
    await history.tell({ T: 'confirmed' });
    return history;
  };

  test('ambiguous, named at both', async () => {
    const history = await paidOnce();
    expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...mayBe });
    expect(await history.shown('B')).toEqual({ status: 'PENDING', ...mayBe });
    expect(await history.found('T')).toEqual([
      { payment: null, reason: 'ambiguous', candidates: ['A', 'B'], elsewhere: false },
    ]);
    await history.now('10:31:30');
    await history.expire('10:30:30');
    expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...mayBe });
    expect(await history.events()).toEqual(['A cancelled', noticed, 'B expired, 1 may be for it']);
  });

  test.each([
    ['B', 'A', { status: 'CANCELLED', ...nothing }],
    ['A', 'B', { status: 'PENDING', ...nothing }],
  ])('%s gets it by acceptance, and knows of the other; then nothing is at %s', async (taker, other, left) => {
    const history = await paidOnce();
    expect(await history.accept(taker, 'T', null)).toMatch(/^409 .*2 payments/);
    expect(await history.accept(taker, 'T', 1)).toMatch(/^409 .*2 payments/);
    expect(await history.accept(taker, 'T', 2)).toBe('200');
    expect(await history.shown(taker)).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.shown(other)).toEqual(left);
    expect(await history.accept(other, 'T', 2)).toMatch(/^409 /);
    expect(await history.events()).toEqual(['A cancelled', noticed, `${taker} PAID by T, accepted as ambiguous`]);
  });

  test('B is paid by other money: T may be only A’s then, and no notice is repeated', async () => {
    const history = await paidOnce();
    await history.now('10:02:00');
    history.transfer('T2', { block: '10:01:59', read: '10:02:00' });
    await history.tell({ T2: 'confirmed' });
    const onlyA = { status: 'CANCELLED', unmatched: ['paid_another', 'T ambiguous, 1 of them'], page: '10' };
    expect(await history.shown('A')).toEqual(onlyA);
    expect(await history.shown('B')).toEqual({ status: 'PAID by T2', ...nothing });
    expect(await history.events()).toEqual(['A cancelled', noticed, 'B PAID by T2']);
    expect(await history.accept('A', 'T', 2)).toMatch(/^409 /);
    expect(await history.accept('A', 'T', null)).toBe('200');
    expect((await history.events()).slice(3)).toEqual(['A PAID by T, accepted as ambiguous']);
  });

  test.each([['T', 'T2'] as const, ['T2', 'T'] as const])(
    'T2 pays B, and one batch confirms %s and %s: T may be only A’s',
    async (first, second) => {
      const history = await seenOnce();
      await history.now('10:02:00');
      history.transfer('T2', { block: '10:01:59', read: '10:02:00' });
      await history.tell({ [first]: 'confirmed', [second]: 'confirmed' });
      const onlyA = { status: 'CANCELLED', unmatched: ['paid_another', 'T ambiguous, 1 of them'], page: '10' };
      expect(await history.shown('A')).toEqual(onlyA);
      expect(await history.shown('B')).toEqual({ status: 'PAID by T2', ...nothing });
    },
  );
});

describe('only B in the slot’s last hour, created 10:00:00, T at 10:00:30 by the wall, chain clock 48 s behind', () => {
  test.each([
    ['alone in its slot', null],
    ['A cancelled more than an hour before', '08:59:59'],
  ])('B is PAID (%s)', async (_slot, endOfA) => {
    const history = await beginHistory(world);
    if (endOfA !== null) {
      await history.now('08:40:00');
      await history.create('A');
      await history.now(endOfA);
      await history.cancel('A');
    }
    await history.now('10:00:00');
    await history.create('B');
    await history.now('10:00:31');
    history.transfer('T', { block: '09:59:42', read: '10:00:30.500' });
    await history.tell({ T: 'seen' });
    expect(await history.shown('B')).toEqual({ status: 'CHECKING by T', ...nothing });
    await history.tell({ T: 'confirmed' });
    expect(await history.shown('B')).toEqual({ status: 'PAID by T', ...nothing });
    const events = (await history.events()).filter((line) => line !== 'A cancelled');
    expect(events).toEqual(['B checking by T', 'B PAID by T']);
    if (endOfA !== null) expect(await history.shown('A')).toMatchObject({ status: 'CANCELLED', page: null });
  });

  test('a transfer from inside B’s window takes precedence over one that only its interval’s end lets in, which is decided again', async () => {
    const history = await beginHistory(world);
    await history.now('10:00:00');
    await history.create('B');
    await history.now('10:00:31');
    history.transfer('T', { block: '09:59:42', read: '10:00:30.500' });
    await history.tell({ T: 'seen' });
    history.transfer('T2', { block: '10:00:31', read: '10:00:32' });
    await history.now('10:00:33');
    await history.tell({ T2: 'seen' });
    expect(await history.shown('B')).toMatchObject({ status: 'CHECKING by T2' });
    await history.tell({ T2: 'confirmed', T: 'confirmed' });
    expect(await history.shown('B')).toEqual({
      status: 'PAID by T2',
      unmatched: ['T duplicate, 1 of them'],
      page: null,
    });
    expect((await history.events()).filter((line) => !line.includes('checking'))).toEqual([
      'B PAID by T2',
      'T unmatched: duplicate, candidates B, only B',
    ]);
  });
});

test('customer-1 waits for 21.50, customer-2 pays exactly his 21.01, chain clock 48 s behind: customer-2 is PAID; nothing is shown to customer-1', async () => {
  const history = await beginHistory(world);
  await history.now('09:59:00');
  await history.create('customer-1', { amount: '21.50' });
  await history.now('10:00:00');
  await history.create('customer-2', { amount: '21.01' });
  await history.now('10:00:31');
  history.transfer('T', { block: '09:59:42', read: '10:00:30.500', amount: '21.01' });
  for (const [phase, status] of [
    ['seen', 'CHECKING by T'],
    ['confirmed', 'PAID by T'],
  ] as const) {
    await history.tell({ T: phase });
    expect(await history.shown('customer-2')).toEqual({ status, ...nothing });
    expect(await history.shown('customer-1')).toEqual({ status: 'PENDING', ...nothing });
  }
  // Nobody can accept it for customer-1 either.
  expect(await history.accept('customer-1', 'T', null)).toMatch(/^409 /);
  expect(await history.accept('customer-1', 'T', 1, 'operator')).toMatch(/^409 /);
  await history.now('10:31:30');
  await history.expire('10:30:40');
  expect(await history.shown('customer-1')).toEqual({ status: 'EXPIRED', ...nothing });
  expect(await history.events()).toEqual(['customer-2 checking by T', 'customer-2 PAID by T', 'customer-1 expired']);
});

test('A created :05, cancelled :08, B created :09, T [:00, :10]: ambiguous', async () => {
  const history = await beginHistory(world);
  await history.now('10:00:05');
  await history.create('A');
  await history.now('10:00:08');
  await history.cancel('A');
  await history.now('10:00:09');
  await history.create('B');
  await history.now('10:00:10');
  history.transfer('T', { block: '10:00:00', read: '10:00:10' });
  await history.tell({ T: 'confirmed' });
  expect(await history.shown('A')).toEqual({ status: 'CANCELLED', ...mayBe });
  expect(await history.shown('B')).toEqual({ status: 'PENDING', ...mayBe });
  await history.now('10:30:20');
  await history.expire('10:30:12');
  expect(await history.shown('B')).toEqual({ status: 'EXPIRED', ...mayBe });
  expect(await history.events()).toEqual([
    'A cancelled',
    'T unmatched: ambiguous, candidates A B',
    'B expired, 1 may be for it',
  ]);
});

test('T in CHECKING for A; a reorganisation moves it to a second where rule 5 holds: A PENDING, T ambiguous', async () => {
  const history = await beginHistory(world);
  await history.now('09:50:00');
  await history.create('before');
  await history.now('10:00:25');
  await history.cancel('before');
  await history.now('10:00:26');
  await history.create('A');
  await history.now('10:00:41');
  history.transfer('T', { block: '10:00:40', read: '10:00:40.600' });
  await history.tell({ T: 'seen' });
  expect(await history.shown('A')).toEqual({ status: 'CHECKING by T', ...nothing });
  // Nodes whose clocks are 48 s behind made the other branch.
  history.move('T', '09:59:52');
  await history.tell({ T: 'seen' });
  expect(await history.shown('A')).toEqual({ status: 'PENDING', ...mayBe });
  expect(await history.shown('before')).toEqual({ status: 'CANCELLED', ...mayBe });
  const events = ['before cancelled', 'A checking by T'];
  expect(await history.events()).toEqual(events);
  await history.tell({ T: 'confirmed' });
  expect(await history.shown('A')).toEqual({ status: 'PENDING', ...mayBe });
  expect(await history.events()).toEqual([...events, 'T unmatched: ambiguous, candidates A before']);
});

describe('chain clock 60 s ahead, T paid one minute before expiry by the wall', () => {
  const ordered = async () => {
    const history = await beginHistory(world);
    await history.now('09:30:00');
    await history.create('A');
    await history.now('09:59:01');
    return history;
  };

  test('read live: PAID, and our clock holds off the expiry that the chain has passed', async () => {
    const history = await ordered();
    history.transfer('T', { block: '10:00:00', read: '09:59:00.800' });
    await history.now('09:59:30');
    await history.expire('10:00:29');
    expect(await history.shown('A')).toEqual({ status: 'PENDING', ...nothing });
    await history.tell({ T: 'confirmed' });
    expect(await history.shown('A')).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.events()).toEqual(['A PAID by T']);
  });

  test('read live, and only the question about A finds it: PAID', async () => {
    const history = await ordered();
    history.transfer('T', { block: '10:00:00', read: '09:59:00.800' });
    history.confirmUnheard('T');
    await history.now('10:00:05');
    await history.expire('10:01:04');
    expect(await history.shown('A')).toEqual({ status: 'PAID by T', ...nothing });
    expect(await history.events()).toEqual(['A PAID by T']);
  });

  test('not read live: late and acceptable, never lost', async () => {
    const history = await ordered();
    history.transfer('T', { block: '10:00:00', read: '10:00:20', live: false });
    await history.now('10:00:21');
    await history.tell({ T: 'confirmed' });
    await history.expire('10:01:20');
    expect(await history.shown('A')).toEqual({ status: 'EXPIRED', unmatched: ['T late, 1 of them'], page: '10' });
    expect(await history.events()).toEqual(['T unmatched: late, candidates A, only A', 'A expired, 1 may be for it']);
    expect(await history.accept('A', 'T', null)).toBe('200');
    expect(await history.shown('A')).toEqual({ status: 'PAID by T', ...nothing });
    expect((await history.events()).slice(2)).toEqual(['A PAID by T, accepted as late']);
  });

  test('not read live, the chain two minutes ahead: the reason is given as soon as A is paid or cancelled', async () => {
    const history = await ordered();
    history.transfer('T', { block: '10:01:10', read: '09:59:10', live: false });
    await history.tell({ T: 'confirmed' });
    expect(await history.events()).toEqual([]);
    history.transfer('T2', { block: '09:59:20', read: '09:59:20' });
    await history.now('09:59:21');
    await history.tell({ T2: 'confirmed' });
    expect(await history.shown('A')).toEqual({
      status: 'PAID by T2',
      unmatched: ['T duplicate, 1 of them'],
      page: null,
    });
    await history.now('09:59:30');
    await history.create('B');
    history.transfer('T3', { block: '10:30:10', read: '09:59:31', live: false });
    await history.now('09:59:32');
    await history.tell({ T3: 'confirmed' });
    await history.cancel('B');
    const afterEnd = { unmatched: ['T3 after_cancel, 1 of them'], page: '10' };
    expect(await history.shown('B')).toEqual({ status: 'CANCELLED', ...afterEnd });
    expect(await history.events()).toEqual([
      'A PAID by T2',
      'T unmatched: duplicate, candidates A, only A',
      'T3 unmatched: after_cancel, candidates B, only B',
      'B cancelled',
    ]);
  });
});
