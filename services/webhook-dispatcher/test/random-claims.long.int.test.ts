import { expect, jest, test } from '@jest/globals';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { randomClaims } from './random-claims/random-claims.ts';
import { startStoreWorld } from './store-world.ts';

// The test waits for everything after the run; nothing here passes or fails by time.
jest.setTimeout(3_600_000);

/** The run continues until everything has happened at least once. */
const durationMs = amountOf({ short: 3_000, long: 300_000 });
/** Always the same choices, but not the same moments: timing depends on the machine. */
const SEED = 20_261_208;

test('no pending event is forgotten while claims, settlements and changes of lanes run concurrently, in random order', async () => {
  const seed = seedOf(SEED);
  const world = await startStoreWorld({ connections: 24 });
  try {
    const { broken, counts } = await randomClaims({ world, seed, durationMs });
    expect({ seed, counts, broken }).toEqual({ seed, counts, broken: [] });
    // A run in which something never happened proves nothing about it.
    const { deadlocks, lockTimeouts, ...happened } = counts;
    expect(deadlocks + lockTimeouts).toBeLessThan(happened.claims / 10);
    expect(Object.entries(happened).filter(([, times]) => times === 0)).toEqual([]);
  } finally {
    await world.stop();
  }
});
