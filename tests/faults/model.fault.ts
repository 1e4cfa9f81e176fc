import { type Outcome, runCampaign } from '../../services/payments/test/model/campaign.ts';
import { openSharedDatabase } from '../../services/payments/test/model/world.ts';
import type { Fault } from './fault.ts';

const USUAL_RUNS = 1000;
/** With fewer runs chance may leave something out. A long run that leaves something out must fail. */
const RUNS_THAT_REACH_ALL = 500;
const PROGRESS_EVERY = 250;

export const fault: Fault = {
  name: 'model',
  about:
    'payments in random runs of everything that can happen, in sequence and concurrently on two replicas, compared with a model of the rules',
  async run({ seed, runs, path, say, onEnd }) {
    const world = await openSharedDatabase();
    onEnd(() => world.close());
    const total = runs ?? USUAL_RUNS;
    const startedAt = performance.now();
    const onRun = (done: number): void => {
      if (done % PROGRESS_EVERY === 0 && done < total) say(`  ${done} runs`);
    };
    const outcome = await runCampaign(world, { runs: total, seed, onRun, ...(path !== null && { path }) });
    const seconds = (performance.now() - startedAt) / 1000;
    if (outcome.failure !== null) {
      return {
        broken: [outcome.failure.message],
        lines: [],
        repeat: `model --seed ${seed} --path ${outcome.failure.path}`,
      };
    }
    const isWhole = path === null && total >= RUNS_THAT_REACH_ALL;
    const missed = isWhole ? outcome.missed.map((name) => `no run has reached "${name}"`) : [];
    const deadlocks = outcome.deadlocks > 0n ? [`PostgreSQL had to resolve ${outcome.deadlocks} deadlocks`] : [];
    return {
      broken: [...missed, ...deadlocks],
      lines: [...reached(outcome), summary(outcome, seconds)],
    };
  },
};

const reached = ({ reached: counts }: Outcome): string[] =>
  [...counts].map(([name, count]) => `  ${String(count).padStart(8)}  ${name}`);

function summary({ runs, commands, undecided, unjudged }: Outcome, seconds: number): string {
  const rate = (count: number): string => (count / seconds).toFixed(count / seconds < 10 ? 1 : 0);
  return [
    `\n${runs} runs of ${commands} commands in ${seconds.toFixed(0)} s: ${rate(runs)} runs and ${rate(commands)} commands a second.`,
    `${undecided} calls were not decided in time and repeated, ${unjudged} runs had a race with too many orders to judge.`,
  ].join('\n');
}
