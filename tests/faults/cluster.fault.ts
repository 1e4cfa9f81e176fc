import { setTimeout as delay } from 'node:timers/promises';
import { chanceOf } from '../../services/chain-watcher/test/random-run/chance.ts';
import { longestWaits, type Waits } from './cluster/waits.ts';
import { steps, type Step } from './cluster/steps.ts';
import type { Fault } from './fault.ts';
import { judge } from './system/judge.ts';
import { startShops, type Shops } from './system/shops.ts';
import { openWorld, type World } from './system/world.ts';

const SHOPS = 10;
/** Without any fault, for comparison. */
const QUIET_MS = 15_000;
/** After each fault; in this time everything must have recovered. */
const CALM_MS = 5_000;

const HEAD = 'Longest wait in seconds, of a shop for its 201 and of a message for its effect:';

export const fault: Fault = {
  name: 'cluster',
  about:
    'three nodes of RabbitMQ, and a PostgreSQL with a synchronous standby, under the load of shops: the leading node is killed, frozen and ' +
    'isolated, the primary is killed and frozen and the standby takes over, --runs rounds (--part for one step): nothing is lost, ' +
    'and the longest waits are printed',
  async run({ seed, runs, part, say, onEnd }) {
    const chosen = steps.filter(({ name }) => part === null || name === part);
    if (chosen.length === 0)
      throw new Error(`there is no ${part}; there are: ${steps.map(({ name }) => name).join(', ')}`);
    const chance = chanceOf(seed);
    const world = await openWorld(chance.apart('chain'), onEnd, { brokers: 3 });
    const shops = await startShops(world, SHOPS, chance.apart('shops'));
    await delay(CALM_MS);
    const lines = [describe('nothing at all', await during(world, shops, () => delay(QUIET_MS)))];
    say(lines[0]!);
    const broken: string[] = [];
    for (let round = 1; round <= (runs ?? 1); round += 1) {
      for (const step of chosen) {
        const { wrong, line } = await carryOut(step, world, shops);
        say(line);
        lines.push(line);
        broken.push(...wrong);
      }
    }
    await shops.end();
    broken.push(...(await judge(world, shops, say)));
    return { broken, lines: [HEAD, ...lines, ...shops.lines()] };
  },
};

async function carryOut(step: Step, world: World, shops: Shops): Promise<{ wrong: string[]; line: string }> {
  const wrong: string[] = [];
  const waits = await during(world, shops, async () => {
    wrong.push(...(await step.run(world)).map((what) => `${step.name}: ${what}`));
    await delay(CALM_MS);
  });
  return { wrong, line: describe(step.name, waits) };
}

async function during(world: World, shops: Shops, run: () => Promise<unknown>): Promise<Waits> {
  const from = new Date();
  await run();
  return longestWaits(world.stack.file.postgres_url, shops.orders, from);
}

const describe = (name: string, { creations, messages }: Waits): string =>
  `  ${name.padEnd(24)}${[creations, messages].map((seconds) => seconds.toFixed(1).padStart(10)).join('')}`;
