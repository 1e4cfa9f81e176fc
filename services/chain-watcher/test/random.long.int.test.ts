import { expect, jest, test } from '@jest/globals';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { randomRun } from './random-run/random-run.ts';

// Processes that were killed with work under way are waited for; nothing here passes or fails by time.
jest.setTimeout(3_600_000);

const DURATION_MS = amountOf({ short: 25_000, long: 120_000 });
/** The same plan for everybody, so that what fails is due to the change at hand. `npm run faults -- chain` tries others, for longer. */
const SEED = 20_261_121;

const severalAtOnce = ['several blocks are read at once', true] as const;
const eachByItself = ['each block is read by itself', false] as const;

test.each(amountOf<(readonly [string, boolean])[]>({ short: [severalAtOnce], long: [severalAtOnce, eachByItself] }))(
  'whatever happens to processes, chain and nodes, each transfer is known once and nothing else: %s',
  async (_, isFast) => {
    const seed = seedOf(SEED);
    const closers: (() => Promise<void>)[] = [];
    try {
      const onEnd = (close: () => Promise<void>) => void closers.unshift(close);
      // That a block which shows nothing has nothing is proved late where several are read at once.
      const amount = { seed, durationMs: DURATION_MS, hides: isFast, isFast };
      const { broken, missing } = await randomRun({ ...amount, say: () => undefined, onEnd });
      expect({ seed, broken, missing }).toEqual({ seed, broken: [], missing: [] });
    } finally {
      for (const close of closers) await close();
    }
  },
);
