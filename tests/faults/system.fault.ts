import { setTimeout as delay } from 'node:timers/promises';
import { chanceOf } from '../../services/chain-watcher/test/random-run/chance.ts';
import type { Fault } from './fault.ts';
import { coverageOf } from './system/coverage.ts';
import { startFaults } from './system/faults.ts';
import { judge } from './system/judge.ts';
import { startShops } from './system/shops.ts';
import { openWorld } from './system/world.ts';

const USUAL_MINUTES = 2;
const SHOPS = 8;

export const fault: Fault = {
  name: 'system',
  about:
    'two replicas of everything, shops that do all a shop may, and for --runs minutes at random: processes killed, frozen and replaced, at every ' +
    'fault point too, PostgreSQL and RabbitMQ killed, blocks replaced, nodes that lie, receivers that misbehave; then everything heals, and the ' +
    'rows, the webhooks and the chain must agree to the last unit',
  async run({ seed, runs, say, onEnd }) {
    const chance = chanceOf(seed);
    const world = await openWorld(chance.apart('chain'), onEnd);
    const shops = await startShops(world, SHOPS, chance.apart('shops'));
    const coverage = coverageOf(world);
    const faults = startFaults(world, shops, chance.apart('faults'), async (what) => {
      say(`  ${what}`);
      await coverage.note(what);
    });
    await delay((runs ?? USUAL_MINUTES) * 60_000);
    await faults.end();
    say('  everything is healed');
    await shops.end();
    const broken = await judge(world, shops, say);
    return {
      broken,
      lines: [
        ...shops.lines(),
        ...coverage.lines(),
        'The seed makes the same plan again; how far each process is when something happens, the machine decides.',
      ],
    };
  },
};
