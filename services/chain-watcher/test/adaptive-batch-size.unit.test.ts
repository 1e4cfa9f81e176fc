import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type SuggestedRange, RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createBatchSize } from '../src/blocks/ranges.ts';

const tooMuch = (suggested: SuggestedRange | null = null) => new RpcError('range', 'too many', { suggested });

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

test('a request for fewer blocks than the batch size does not grow it', () => {
  const batch = createBatchSize(200, 2_000);
  batch.grow(7);
  expect(batch.size()).toBe(200);
});

test.each([
  ['the number of blocks that the node suggests', 200, { blocks: 10 }, 10],
  ['that of the range that the node suggests', 200, { from: 100, to: 149 }, 50],
  ['half, when the suggestion is not less than what was asked', 200, { blocks: 200 }, 100],
  ['half, when the suggestion is nonsense', 200, { blocks: 0 }, 100],
  ['half, when there is none', 200, null, 100],
  ['one, and never less', 2, null, 1],
])('after a refusal the batch size is %s', (_, asked, suggested, size) => {
  const batch = createBatchSize(asked, 2_000);
  expect(batch.shrinkAfter(tooMuch(suggested), asked)).toBe(true);
  expect(batch.size()).toBe(size);
});

test.each([
  ['a single block', tooMuch(), 1],
  ['what failed for another reason', new RpcError('unreachable', 'down'), 200],
  ['an error that is not of a node', new TypeError('ours'), 200],
])('no smaller batch is tried for %s', (_, error, asked) => {
  const batch = createBatchSize(asked, 2_000);
  expect(batch.shrinkAfter(error, asked)).toBe(false);
  expect(batch.size()).toBe(asked);
});

test('the batch size finds the limit of any node, and rarely exceeds it again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (limit) => {
      const batch = createBatchSize(200, 2_000);
      let refusals = 0;
      let answered = 0;
      for (let question = 0; question < 1_000; question += 1) {
        if (batch.size() > limit) {
          refusals += 1;
          batch.shrinkAfter(tooMuch(), batch.size());
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
