import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLooks, createGap } from '../src/follow/looks.ts';

let time = 0;
beforeEach(() => {
  time = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => time);
});
afterEach(() => void jest.restoreAllMocks());

/** Looks at a chain whose tip is 100 while the node shows this head. */
function looksAt(head: number) {
  const writes: unknown[][] = [];
  const pool = { query: async (_: string, values: unknown[]) => void writes.push(values) };
  const term = { pool, network: { id: 'local' }, epoch: 7n };
  const position = { chain: { tip: () => ({ number: 100 }) }, heights: () => ({ head }) };
  const looks = createLooks(term as never, position as never);
  return { looks, writes };
}

test('a look that has read everything up to the head makes the next block live, and is stored', async () => {
  const { looks, writes } = looksAt(100);
  expect(looks.isLive(101)).toBe(false);
  await looks.ended(time);
  expect(looks.isLive(101)).toBe(true);
  expect(writes).toEqual([['local', 7n]]);
});

test('with a node that lags, nothing is live, and the network does not count as read', async () => {
  const { looks, writes } = looksAt(99);
  await looks.ended(time);
  expect(looks.isLive(101)).toBe(false);
  expect(writes).toEqual([]);
});

test('looks are stored at most every ten seconds', async () => {
  const { looks, writes } = looksAt(100);
  for (time = 1_000; time < 31_000; time += 500) await looks.ended(time);
  expect(writes).toHaveLength(3);
});

/** A gap whose clock the test moves, after a look that started at 0 and read everything up to block 100. */
function gapAfterLook() {
  let time = 0;
  const gap = createGap(() => time);
  gap.looked(time, 100);
  return { gap, wait: (ms: number) => void (time += ms) };
}

test('a block above the head of a look that started at most 15 seconds ago is live', () => {
  const { gap, wait } = gapAfterLook();
  expect(gap.isLive(101)).toBe(true);
  wait(15_000);
  expect(gap.isLive(101)).toBe(true);
  expect(gap.isLive(140)).toBe(true);
});

test.each([
  ['before any look has reached the head', () => createGap(() => 0).isLive(101)],
  [
    'after a longer time without one, as on a network that sleeps',
    () => {
      const { gap, wait } = gapAfterLook();
      wait(15_001);
      return gap.isLive(101);
    },
  ],
  ['at or below that head, as in a branch that replaces it', () => gapAfterLook().gap.isLive(100)],
  [
    'when it is stored too long after the beginning of the look before',
    () => {
      const { gap, wait } = gapAfterLook();
      wait(14_000);
      gap.looked(5_000, 100);
      wait(6_001);
      return gap.isLive(101);
    },
  ],
])('a block is not live %s', (_, isLive) => {
  expect(isLive()).toBe(false);
});
