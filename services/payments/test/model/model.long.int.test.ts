import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import { runCampaign } from './campaign.ts';
import { openSharedDatabase, type SharedDatabase } from './world.ts';

// Thousands of calls on a busy machine take their time; nothing here passes or fails by it.
jest.setTimeout(3_600_000);

const SEED = 7;

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

describe('payments, held against a model of their rules', () => {
  test('do what the contract says in random runs of everything that can happen, alone and concurrently', async () => {
    let missed: string[] | null = null;
    // Which calls race is up to the machine: what one campaign did not reach, the next ones may. Short ones, so that little is done beyond that.
    for (let campaign = 0; campaign < 40 && missed?.length !== 0; campaign += 1) {
      const outcome = await runCampaign(world, { runs: amountOf({ short: 25, long: 200 }), seed: SEED + campaign });
      expect(outcome.failure?.message).toBeUndefined();
      expect(outcome.deadlocks).toBe(0n);
      missed = outcome.missed.filter((name) => missed?.includes(name) ?? true);
    }
    expect(missed).toEqual([]);
  });
});
