import { expect, jest, test } from '@jest/globals';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { randomRun } from './random-run/random-run.ts';

// The test waits for processes that were killed in the middle of work. It does not pass or fail by time.
jest.setTimeout(3_600_000);

const DURATION_MS = amountOf({ short: 25_000, long: 120_000 });
/** The same plan for everyone, so that a failure comes from the current change. `npm run faults -- chain` runs others, for longer. */
const SEED = 20_261_121;

const ways = {
  'several blocks are read at once': { isFast: true, isProven: false },
  'each block is read by itself': { isFast: false, isProven: false },
  'blocks are proven': { isFast: false, isProven: true },
};

test.each(Object.entries(ways).slice(0, amountOf({ short: 1, long: 3 })))(
  'whatever happens to processes, chain and nodes, each transfer is known once and nothing else: %s',
  async (_, { isFast, isProven }) => {
    const seed = seedOf(SEED);
    const closers: (() => Promise<void>)[] = [];
    try {
      const onEnd = (close: () => Promise<void>) => void closers.unshift(close);
      // When several blocks are read at once, it is proved only later that a block without events has none.
      const amount = { seed, durationMs: DURATION_MS, hides: isFast, isFast, isProven };
      const { broken, missing } = await randomRun({ ...amount, say: () => undefined, onEnd });
      expect({ seed, broken, missing }).toEqual({ seed, broken: [], missing: [] });
    } finally {
      for (const close of closers) await close();
    }
  },
);
