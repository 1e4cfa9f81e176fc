import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { confirmationsOf, confirmingTip, finalHeight } from '../src/chain/finality.ts';

const twelve = { confirmations: 12, finality: 'confirmations' } as const;
const finalized = { confirmations: 15, finality: 'finalized' } as const;

describe('the height that may be confirmed', () => {
  test('a block is confirmed by itself and by each block on top of it', () => {
    expect(confirmationsOf(100, 100)).toBe(1);
    expect(confirmationsOf(100, 111)).toBe(12);
    expect(finalHeight(twelve, { tip: 111, head: 111, finalized: 50 })).toBe(100);
    expect(finalHeight(twelve, { tip: 110, head: 110, finalized: 50 })).toBe(99);
  });

  test('near the head, depth is counted from what we scanned, not from what a node claims', () => {
    expect(finalHeight(twelve, { tip: 105, head: 1_000_000, finalized: 50 })).toBe(94);
  });

  test("far behind, below the chain's own finality, all that was scanned is final", () => {
    expect(confirmingTip({ tip: 500, head: 10_000, finalized: 9_900 })).toBe(10_000);
    expect(finalHeight(twelve, { tip: 500, head: 10_000, finalized: 9_900 })).toBe(500);
    expect(finalHeight(finalized, { tip: 500, head: 10_000, finalized: 9_900 })).toBe(500);
  });

  test("with `finalized`, both the chain's word and the depth are needed", () => {
    expect(finalHeight(finalized, { tip: 100, head: 100, finalized: 98 })).toBe(86);
    expect(finalHeight(finalized, { tip: 100, head: 100, finalized: 70 })).toBe(70);
  });

  test('what the chain calls final needs no further confirmations where depth decides', () => {
    expect(finalHeight(twelve, { tip: 100, head: 100, finalized: 97 })).toBe(97);
  });

  test('is never above the tip, for any policy', () => {
    const height = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(height, height, height, fc.constantFrom(twelve, finalized), (tip, head, final, policy) => {
        return finalHeight(policy, { tip, head, finalized: final }) <= tip;
      }),
    );
  });
});
