import { expect, test } from '@jest/globals';
import { createGathering, createTurns } from '../src/concurrency/semaphore.ts';

test('no more run at a time than there are turns, and the others follow in order', async () => {
  const turns = createTurns(2);
  const started: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<null>());
  const runs = gates.map(({ promise }, index) =>
    turns(async () => {
      started.push(index);
      await promise;
      if (index === 1) throw new Error('failed');
      return index;
    }),
  );
  const settled = Promise.allSettled(runs);
  expect(started).toEqual([0, 1]);
  gates[1]?.resolve(null);
  await expect(runs[1]).rejects.toThrow('failed');
  expect(started).toEqual([0, 1, 2]);
  gates.forEach(({ resolve }) => resolve(null));
  expect((await settled).map((run) => run.status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
});

test('what comes in one turn of the event loop, and while a batch is taken, goes together, at most so many', async () => {
  const batches: number[][] = [];
  const begun: Promise<void>[] = [];
  const gather = createGathering<number>({
    max: 3,
    begin: (work) => void begun.push(work),
    take: async (batch) => {
      batches.push(batch);
      if (batches.length === 1) [3, 4, 5, 6].forEach(gather);
      await Promise.resolve();
    },
  });
  gather(1);
  gather(2);
  await Promise.all(begun);
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
  gather(7);
  await Promise.all(begun);
  expect(batches[3]).toEqual([7]);
  expect(begun).toHaveLength(2);
});
