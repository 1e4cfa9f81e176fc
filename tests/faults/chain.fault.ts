import { randomRun } from '../../services/chain-watcher/test/random-run/random-run.ts';
import type { Fault } from './fault.ts';

const USUAL_MINUTES = 10;

export const fault: Fault = {
  name: 'chain',
  about:
    'chain-watcher while its processes are killed and frozen, its chain is reorganised and its nodes fail and lie, for --runs minutes; ' +
    'held against a replay of the chain by other code',
  async run({ seed, runs, say, onEnd }) {
    // Every other seed also has lies that only the comparison of endpoints uncovers; then an audit may find what a reading could not.
    const hides = seed % 2 === 0;
    const isFast = seed % 4 === 0;
    const durationMs = (runs ?? USUAL_MINUTES) * 60_000;
    const { broken, missing, lines } = await randomRun({ seed, durationMs, hides, isFast, say, onEnd });
    return {
      broken: [...broken, ...missing.map((what) => `the run did too little: ${what}`)],
      lines: [
        ...lines,
        hides
          ? 'One endpoint also hid things, which is for the audit to repair.'
          : 'No endpoint hid anything for good, so no audit was needed.',
        'The seed makes the same plan again; how far each process is when something happens, the machine decides.',
      ],
    };
  },
};
