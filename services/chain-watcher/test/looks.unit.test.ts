import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createLooks } from '../src/follow/looks.ts';

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
