import { backlogRun } from '../../services/webhook-dispatcher/test/faults/backlog-run.ts';
import { emptiness, killRun } from '../../services/webhook-dispatcher/test/faults/kill-run.ts';
import type { Fault } from './fault.ts';

const USUAL_KILLS = 20;
const EVENTS_PER_KILL = 500;
const MERCHANTS = 200;
const EVERY_MS = 2_000;
/** 100,000 events for a dead receiver in a run of the default length. */
const BACKLOG_PER_KILL = 5_000;

export const fault: Fault = {
  name: 'webhooks',
  about:
    'two webhook-dispatchers of which one is killed every 2 seconds, --runs times, with 500 events each time, to receivers that refuse, ' +
    'reset and hang: every event arrives as signed, and is settled once; and a dead receiver with a backlog, which is drained slowly',
  async run({ seed, runs, say, onEnd }) {
    const kills = runs ?? USUAL_KILLS;
    const amount = { merchants: MERCHANTS, events: kills * EVENTS_PER_KILL, kills, everyMs: EVERY_MS };
    const killed = await killRun({ seed, ...amount, leases: 'wait', say, onEnd });
    const buried = await backlogRun({ backlog: kills * BACKLOG_PER_KILL, say, onEnd });
    const counts = { ...killed.counts, ...buried.counts };
    return {
      broken: [...killed.broken, ...buried.broken, ...emptiness(counts)],
      lines: Object.entries(counts).map(([name, count]) => `  ${String(count).padStart(8)}  ${name}`),
    };
  },
};
