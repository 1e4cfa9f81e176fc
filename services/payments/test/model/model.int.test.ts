import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { runCampaign } from './campaign.ts';
import { openSharedDatabase, type SharedDatabase } from './world.ts';

// Thousands of calls on a busy machine take their time; nothing here passes or fails by it.
jest.setTimeout(600_000);

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

describe('payments, held against a model of their rules', () => {
  test('do what the contract says in random runs of everything that can happen, alone and concurrently', async () => {
    const outcome = await runCampaign(world, { runs: 100, seed: 7 });
    expect(outcome.failure?.message).toBeUndefined();
    expect(outcome.missed).toEqual([]);
    expect(outcome.deadlocks).toBe(0n);
  });
});
