import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  confirmationsOf,
  confirmingTip,
  finalHeightOf,
  finalHeights,
  finalityClaim,
  type Heights,
} from '../src/chain/finality.ts';

const twelve = { confirmations: 12, finality: 'confirmations', finalizedAbove: null } as const;
const finalized = { confirmations: 15, finality: 'finalized', finalizedAbove: null } as const;
const capped = { ...twelve, finalizedAbove: 1_000n };

const finalHeight = (policy: typeof twelve | typeof finalized, heights: Heights) =>
  finalHeights(policy, heights).finalHeight;

describe('the height that may be confirmed', () => {
  test('a block is confirmed by itself and by each block on top of it', () => {
    expect(confirmationsOf(100, 100)).toBe(1);
    expect(confirmationsOf(100, 111)).toBe(12);
    expect(finalHeight(twelve, { tip: 111, head: 111, finalized: 50 })).toBe(100);
    expect(finalHeight(twelve, { tip: 110, head: 110, finalized: 50 })).toBe(99);
  });

  test("near the head, depth is counted from our tip, not from a node's claim", () => {
    expect(finalHeight(twelve, { tip: 105, head: 1_000_000, finalized: 50 })).toBe(94);
  });

  test("far behind, below the chain's final block, every scanned block is final", () => {
    expect(confirmingTip({ tip: 500, head: 10_000, finalized: 9_900 })).toBe(10_000);
    expect(confirmingTip({ tip: 500, head: 600, finalized: 500 })).toBe(600);
    expect(finalHeight(twelve, { tip: 500, head: 10_000, finalized: 9_900 })).toBe(500);
    expect(finalHeight(finalized, { tip: 500, head: 10_000, finalized: 9_900 })).toBe(500);
  });

  test('with `finalized`, a block must be called final by the chain and be deep enough', () => {
    expect(finalHeight(finalized, { tip: 100, head: 100, finalized: 98 })).toBe(86);
    expect(finalHeight(finalized, { tip: 100, head: 100, finalized: 70 })).toBe(70);
  });

  test('a block that is called final too early still needs its confirmations', () => {
    expect(finalHeight(twelve, { tip: 100, head: 100, finalized: 100 })).toBe(89);
    expect(finalHeight(finalized, { tip: 100, head: 100, finalized: 100 })).toBe(86);
    expect(finalHeights(capped, { tip: 100, head: 100, finalized: 100 })).toMatchObject({ largeFinalHeight: 89 });
  });

  test('a transfer above the cap also waits until the chain calls its block final, one of exactly the cap does not', () => {
    const heights = finalHeights(capped, { tip: 111, head: 111, finalized: 50 });
    expect(finalHeightOf(capped, heights, 1_000n)).toBe(100);
    expect(finalHeightOf(capped, heights, 1_001n)).toBe(50);
    expect(finalHeightOf(twelve, finalHeights(twelve, { tip: 111, head: 111, finalized: 50 }), 10n ** 30n)).toBe(100);
  });

  test('is never above the tip, for any policy, and never higher for large transfers', () => {
    const height = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(height, height, height, fc.constantFrom(twelve, finalized, capped), (tip, head, final, policy) => {
        const heights = finalHeights(policy, { tip, head, finalized: final });
        return heights.finalHeight <= tip && heights.largeFinalHeight <= heights.finalHeight;
      }),
    );
  });
});

describe('the final block of a node', () => {
  const tron = { confirmations_without_finalized: 27 };
  const named = (height: number) => ({ height, isNamed: true });
  const bare = [null, { number: 1_000 }, { number: 1_001 }];

  test('is the one it names, before and after any was named', () => {
    for (const hasNamedFinal of [false, true]) {
      expect(finalityClaim(tron, 1_000, { number: 981 }, hasNamedFinal)).toEqual(named(981));
      expect(finalityClaim({}, 1_000, { number: 999 }, hasNamedFinal)).toEqual(named(999));
    }
  });

  test.each(bare)(
    'is no news when it names none (%j), or its newest block, with which some nodes answer unknown tags',
    (tagged) => {
      expect(finalityClaim({}, 1_000, tagged, false)).toBeNull();
      expect(finalityClaim({}, 1_000, tagged, true)).toBeNull();
    },
  );

  test('may be its newest block, or a later one, on a chain whose blocks are final immediately', () => {
    const avalanche = { instant_finality: true };
    for (const number of [990, 1_000, 1_001]) {
      expect(finalityClaim(avalanche, 1_000, { number }, false)).toEqual(named(number));
    }
    expect(finalityClaim(avalanche, 1_000, null, false)).toBeNull();
  });

  test('a block that is final immediately still needs its confirmations', () => {
    expect(finalHeight(finalized, { tip: 100, head: 100, finalized: 101 })).toBe(86);
  });

  test.each(bare)('is as deep as configured only if no node has ever named one (%j)', (tagged) => {
    const claim = finalityClaim(tron, 1_000, tagged, false)!;
    expect(confirmationsOf(claim.height, 1_000)).toBe(27);
    expect(claim.isNamed).toBe(false);
    expect(finalityClaim(tron, 1_000, tagged, true)).toBeNull();
  });
});
