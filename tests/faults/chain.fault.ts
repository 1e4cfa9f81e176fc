import { randomRun } from '../../services/chain-watcher/test/random-run/random-run.ts';
import type { Fault } from './fault.ts';

const USUAL_MINUTES = 10;

export const fault: Fault = {
  name: 'chain',
  about:
    'chain-watcher while its processes are killed and frozen, its chain is reorganised and its nodes fail and lie, for --runs minutes; ' +
    'compared with a replay of the chain by independent code',
  async run({ seed, runs, say, onEnd }) {
    // Every other seed also has lies that only a comparison of endpoints finds. Then an audit may find what a read could not.
    const hides = seed % 2 === 0;
    const isFast = seed % 4 === 0;
    const durationMs = (runs ?? USUAL_MINUTES) * 60_000;
    const { broken, missing, lines } = await randomRun({
      seed,
      durationMs,
      hides,
      isFast,
      isProven: seed % 3 === 0,
      say,
      onEnd,
    });
    return {
      broken: [...broken, ...missing.map((what) => `the run did too little: ${what}`)],
      lines: [
        ...lines,
        hides
          ? 'One endpoint also hid transfers, which the audit has to repair.'
          : 'No endpoint hid anything permanently, so no audit was needed.',
        'The seed repeats the plan; the progress of each process at a fault depends on the machine.',
      ],
    };
  },
};
