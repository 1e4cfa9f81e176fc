import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SuggestedRange } from '@quittance/chain-reader/rpc/errors.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createBatchSize, suggestedBlocks } from '../src/reading/adaptive-batch-size.ts';

test('a batch size grows by a twentieth, at least by one, up to its maximum', () => {
  const batch = createBatchSize(5, 7);
  const sizes = [1, 2, 3].map(() => {
    batch.grow(batch.size());
    return batch.size();
  });
  expect(sizes).toEqual([6, 7, 7]);
  const large = createBatchSize(200, 2_000);
  large.grow(200);
  expect(large.size()).toBe(210);
});

test('an answer to fewer blocks than the batch size does not grow it', () => {
  const batch = createBatchSize(200, 2_000);
  batch.grow(7);
  expect(batch.size()).toBe(200);
});

test.each([
  ['what the node suggests', 200, 10, 10],
  ['half, when the suggestion is no less than what was asked', 200, 200, 100],
  ['half, when the suggestion is nonsense', 200, 0, 100],
  ['half, when there is none', 200, null, 100],
  ['one, and never less', 1, null, 1],
])('after a refusal the batch size is %s', (_, asked, suggested, size) => {
  const batch = createBatchSize(asked, 2_000);
  batch.shrink(asked, suggested);
  expect(batch.size()).toBe(size);
});

test('the batch size finds the limit of any node, and seldom exceeds it again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (limit) => {
      const batch = createBatchSize(200, 2_000);
      let refusals = 0;
      let answered = 0;
      for (let question = 0; question < 1_000; question += 1) {
        if (batch.size() > limit) {
          refusals += 1;
          batch.shrink(batch.size());
        } else {
          answered += batch.size();
          batch.grow(batch.size());
        }
      }
      expect(refusals).toBeLessThan(30);
      expect(answered / 1_000).toBeGreaterThan(Math.min(limit, 2_000) * 0.45);
    }),
  );
});

test('the range that a node suggests is read as a number of blocks', () => {
  const suggesting = (suggested: SuggestedRange | null) => new RpcError('range', 'too many', { suggested });
  expect(suggestedBlocks(suggesting({ from: 100, to: 149 }))).toBe(50);
  expect(suggestedBlocks(suggesting({ blocks: 10 }))).toBe(10);
  expect(suggestedBlocks(suggesting(null))).toBeNull();
});
