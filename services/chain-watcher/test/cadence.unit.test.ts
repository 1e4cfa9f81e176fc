import { expect, test } from '@jest/globals';
import { afterPoll, expectedBlocks, noCadence, type Cadence } from '../src/jobs/follow/cadence.ts';

/** Looks every `pollMs` at a chain with a block every `blockMs`. @returns what each of the last looks expected, and what it found. */
function follow(pollMs: number, blockMs: number, looks: number): { expected: number; found: number }[] {
  const seen: { expected: number; found: number }[] = [];
  let cadence: Cadence = noCadence;
  for (let look = 1; look <= looks; look += 1) {
    const now = look * pollMs;
    const found = Math.floor(now / blockMs) - Math.floor((now - pollMs) / blockMs);
    seen.push({ expected: expectedBlocks(cadence, now), found });
    cadence = afterPoll(cadence, now, found);
  }
  return seen.slice(-60);
}

test.each([
  ['Ethereum', 1_000, 12_000],
  ['Tron', 1_000, 3_000],
  ['Polygon', 1_000, 2_000],
  ['Arbitrum', 500, 250],
])('on a steady chain such as %s, blocks are expected exactly when they come', (_, pollMs, blockMs) => {
  for (const { expected, found } of follow(pollMs, blockMs, 400)) expect(expected).toBe(found);
});

test('on a chain as fast as our looks, most blocks are expected, and hardly a look expects in vain', () => {
  const seen = follow(500, 700, 600);
  const inVain = seen.filter(({ expected, found }) => expected > 0 && found === 0).length;
  const unexpected = seen.filter(({ expected, found }) => expected === 0 && found > 0).length;
  expect(inVain).toBeLessThan(seen.length * 0.3);
  expect(unexpected).toBeLessThan(seen.length * 0.3);
});

test('on a chain that stands still nothing is expected for long', () => {
  let cadence: Cadence = noCadence;
  for (let look = 1; look <= 50; look += 1) cadence = afterPoll(cadence, look * 1_000, 1);
  const expected = [];
  for (let look = 51; look <= 60; look += 1) {
    expected.push(expectedBlocks(cadence, look * 1_000));
    cadence = afterPoll(cadence, look * 1_000, 0);
  }
  expect(expected.map((count) => count > 0)).toEqual([true, true, true, ...Array.from({ length: 7 }, () => false)]);
});

test('a chain that was never seen to grow promises nothing', () => {
  expect(expectedBlocks(noCadence, 1e9)).toBe(0);
  expect(expectedBlocks(afterPoll(noCadence, 5, 3), 1e9)).toBe(0);
});
