import { expect, test } from '@jest/globals';
import { createLocalChain } from '../src/chain/local-chain.ts';
import { hashOf } from '@quittance/testkit/chain/samples.ts';
import { sampleBlock } from './samples.ts';

const chainOf = (...numbers: number[]) => createLocalChain(numbers.map((number) => sampleBlock(number)));

test('a rewound chain drops the orphans and grows again on another branch', () => {
  const chain = chainOf(1, 2, 3, 4);
  chain.rewind(2);
  expect(chain.tip().number).toBe(2);
  expect(chain.hashAt(3)).toBeUndefined();
  chain.append([sampleBlock(3, { hash: hashOf(33) })]);
  expect(chain.hashAt(3)).toBe(hashOf(33));
  expect(chain.heights()).toEqual([3, 2, 1]);
});

test('a gap below the final block gives the block under it', () => {
  const chain = chainOf(1, 100, 101);
  expect(chain.atOrBelow(100)?.number).toBe(100);
  expect(chain.atOrBelow(99)?.number).toBe(1);
  expect(chain.atOrBelow(0)).toBeUndefined();
});

test('the last block before a timestamp is found among blocks with equal timestamps', () => {
  const chain = createLocalChain(
    [1, 2, 3, 4].map((number) => sampleBlock(number, { timestamp: number < 4 ? 10 : 20 })),
  );
  expect(chain.before(20)?.number).toBe(3);
  expect(chain.before(11)?.number).toBe(3);
  expect(chain.before(10)).toBeUndefined();
});

test('pruning keeps the tip, however far it is asked to go', () => {
  const chain = chainOf(1, 2, 3);
  chain.prune(2);
  expect(chain.heights()).toEqual([3, 2]);
  chain.prune(1_000);
  expect(chain.heights()).toEqual([3]);
});

test('blocks out of order are refused', () => {
  const chain = chainOf(5);
  expect(() => chain.append([sampleBlock(5)])).toThrow();
});
