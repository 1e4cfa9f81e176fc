import { expect, jest, test } from '@jest/globals';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { emptiness, killRun } from './kill-run.ts';

// The test waits for requests that hang; nothing here passes or fails by time.
jest.setTimeout(3_600_000);

/** A fixed seed, so that a failure is caused by the change at hand. `npm run faults -- webhooks` makes other, longer runs. */
const SEED = 20_261_207;

test('every event arrives, correctly signed, and is settled once, even if dispatchers are killed at any time', async () => {
  const seed = seedOf(SEED);
  const closers: (() => Promise<void>)[] = [];
  try {
    const onEnd = (close: () => Promise<void>) => void closers.unshift(close);
    const size = amountOf({ short: { events: 800, kills: 3 }, long: { events: 1_500, kills: 4 } });
    const amount = { merchants: 40, ...size, everyMs: 500, leases: 'lapse' } as const;
    const { broken, counts } = await killRun({ seed, ...amount, say: () => undefined, onEnd });
    expect({ seed, broken: [...broken, ...emptiness(counts)] }).toEqual({ seed, broken: [] });
  } finally {
    for (const close of closers) await close();
  }
});
