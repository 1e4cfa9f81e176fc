import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import { runCampaign } from './campaign.ts';
import { openSharedDatabase, type SharedDatabase } from './world.ts';

// Thousands of calls are slow on a busy machine; no test here depends on the time.
jest.setTimeout(3_600_000);

const SEED = 7;

let world: SharedDatabase;
beforeAll(async () => {
  world = await openSharedDatabase();
});
afterAll(() => world.close());

describe('payments, compared with a model of their rules', () => {
  test('do what the contract says in random runs of everything that can happen, alone and concurrently', async () => {
    let missed: string[] | null = null;
    // The machine decides which calls race: what one campaign did not reach, the next ones may. Campaigns are short, so that little is done
    // beyond that.
    for (let campaign = 0; campaign < 40 && missed?.length !== 0; campaign += 1) {
      const outcome = await runCampaign(world, { runs: amountOf({ short: 25, long: 200 }), seed: SEED + campaign });
      expect(outcome.failure?.message).toBeUndefined();
      expect(outcome.deadlocks).toBe(0n);
      missed = outcome.missed.filter((name) => missed?.includes(name) ?? true);
    }
    expect(missed).toEqual([]);
  });
});
