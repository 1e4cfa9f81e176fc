import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liveThrough } from '../../../tests/faults/day/day.ts';
import { judge } from '../../../tests/faults/day/judge.ts';
import { openSharedDatabase, type SharedDatabase } from './model/world.ts';

// The short form of `npm run faults -- day`. On this day nobody drops only the last digit of a unique amount, because that can make it
// another payment's: the database chooses the amounts, and the seed doesn't control it.

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

const dayOf = async (kind: 'unique' | 'plain') => {
  const day = await liveThrough(world, { seed: 1, number: 1, kind });
  return { day, ...(await judge(world, day)) };
};

test('on a day of usual traffic by unique amounts no transfer pays a stranger’s payment', async () => {
  const { day, outcomes, wrong, broken } = await dayOf('unique');
  expect(broken).toEqual([]);
  expect(wrong).toEqual([]);
  expect(day.payments.size).toBe(99);
  expect(outcomes.length).toBeGreaterThan(80);
});

// The fault run counts which of them pay a stranger's payment under the rules.
test('by plain amounts each transfer is attributed as the rules require, and every one is in the ledger', async () => {
  const { outcomes, broken } = await dayOf('plain');
  expect(broken).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(80);
});
