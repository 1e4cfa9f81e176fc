import { setTimeout as delay } from 'node:timers/promises';
import { journeyStack } from '../support/journey-stack.ts';
import type { Fault } from './fault.ts';
import { judge } from './rolling/judge.ts';
import { describeTraffic, emptiness, roll } from './rolling/roll.ts';
import { startTraffic } from './rolling/traffic.ts';

const USUAL_ROUNDS = 2;
const SHOPS = 10;
/** Before the first restart and after the last, so that each kind of request has also succeeded without restarts. */
const QUIET_MS = 5_000;

export const fault: Fault = {
  name: 'rolling',
  about:
    'each of two replicas of each service restarted by SIGTERM under a steady load at the edge, --runs rounds: no request fails, ' +
    'and what was paid is PAID, counted, and delivered once',
  async run({ runs, say, onEnd }) {
    const stack = await journeyStack({ replicas: 2 });
    onEnd(() => stack.close());
    const traffic = await startTraffic(stack, { shops: SHOPS });
    await delay(QUIET_MS);
    const broken: string[] = [];
    for (let round = 1; round <= (runs ?? USUAL_ROUNDS); round += 1) {
      broken.push(...(await roll({ stack, traffic, say: (line) => say(`  round ${round}:${line}`) })));
    }
    await delay(QUIET_MS);
    await traffic.stop();
    broken.push(...traffic.late.map(({ line }) => `a request was late: ${line}`));
    broken.push(...(await judge(stack, traffic)), ...emptiness(traffic));
    return { broken, lines: describeTraffic(traffic) };
  },
};
