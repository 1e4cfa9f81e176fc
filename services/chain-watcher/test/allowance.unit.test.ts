import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SuggestedRange } from '@quittance/chain-reader/rpc/errors.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createAllowance, granted, refused, suggestedBlocks } from '../src/scan/allowance.ts';

test('grows by a twentieth, at least by one, up to the most', () => {
  const allowance = createAllowance(5, 7);
  const sizes = [1, 2, 3].map(() => {
    granted(allowance, allowance.size);
    return allowance.size;
  });
  expect(sizes).toEqual([6, 7, 7]);
  const large = createAllowance(200, 2_000);
  granted(large, 200);
  expect(large.size).toBe(210);
});

test('an answer to less than is allowed says nothing about more', () => {
  const allowance = createAllowance(200, 2_000);
  granted(allowance, 7);
  expect(allowance.size).toBe(200);
});

test.each([
  ['what the node suggests', 200, 10, 10],
  ['half, when the suggestion is no less than what was asked', 200, 200, 100],
  ['half, when the suggestion is nonsense', 200, 0, 100],
  ['half, when there is none', 200, null, 100],
  ['one, and never less', 1, null, 1],
])('a refusal is followed by %s', (_, asked, suggested, size) => {
  const allowance = createAllowance(asked, 2_000);
  refused(allowance, asked, suggested);
  expect(allowance.size).toBe(size);
});

test('whatever limit a node has, it is met, and seldom run into again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (limit) => {
      const allowance = createAllowance(200, 2_000);
      let refusals = 0;
      let answered = 0;
      for (let question = 0; question < 1_000; question += 1) {
        if (allowance.size > limit) {
          refusals += 1;
          refused(allowance, allowance.size);
        } else {
          answered += allowance.size;
          granted(allowance, allowance.size);
        }
      }
      expect(refusals).toBeLessThan(30);
      expect(answered / 1_000).toBeGreaterThan(Math.min(limit, 2_000) * 0.45);
    }),
  );
});

test('reads a suggestion as a number of blocks', () => {
  const suggesting = (suggested: SuggestedRange | null) => new RpcError('range', 'too many', { suggested });
  expect(suggestedBlocks(suggesting({ from: 100, to: 149 }))).toBe(50);
  expect(suggestedBlocks(suggesting({ blocks: 10 }))).toBe(10);
  expect(suggestedBlocks(suggesting(null))).toBeNull();
});
