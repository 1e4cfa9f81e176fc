import { expect, test } from '@jest/globals';
import { createGap } from '../src/follow/looks.ts';

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
