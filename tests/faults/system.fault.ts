import { setTimeout as delay } from 'node:timers/promises';
import { chanceOf } from '../../services/chain-watcher/test/random-run/chance.ts';
import type { Fault, FaultContext } from './fault.ts';
import { coverageOf } from './system/coverage.ts';
import { createFaults } from './system/faults.ts';
import { judge } from './system/judge.ts';
import { startShops } from './system/shops.ts';
import { openWorld } from './system/world.ts';
import { checkOut, revisionBeforeLastMigration, type Checkout } from './upgrade/checkout.ts';

const USUAL_MINUTES = 2;
const SHOPS = 8;

export const fault: Fault = {
  name: 'system',
  about:
    'two replicas of everything, shops that do everything a shop can do, and for --runs minutes at random: processes killed, frozen and replaced, at every ' +
    'fault point too, their clocks wrong, their version an earlier one (--from a revision) and back; messages late, repeated, in another order; ' +
    'PostgreSQL and RabbitMQ killed, without disk, PostgreSQL taken over by its standby; blocks replaced, nodes that lie, receivers that ' +
    'misbehave; then everything heals, and the rows, the webhooks and the chain must agree to the last unit',
  async run(context) {
    const { seed, runs, say, onEnd } = context;
    const chance = chanceOf(seed);
    const world = await openWorld(chance.apart('chain'), onEnd, { earlier: await earlierVersion(context) });
    const shops = await startShops(world, SHOPS, chance.apart('shops'));
    const faults = await createFaults(world, shops, chance.apart('faults'), say);
    const coverage = coverageOf(world, faults);
    faults.start(async (what) => {
      say(`  ${what}`);
      await coverage.note(what);
    });
    await delay((runs ?? USUAL_MINUTES) * 60_000);
    await faults.end();
    say('  everything is healed');
    await shops.end();
    const broken = [...faults.failed, ...(await judge(world, shops, say, faults.poison))];
    return {
      broken,
      lines: [
        ...shops.lines(),
        ...coverage.lines(),
        ...(await faults.lines()),
        'The seed repeats the plan; the progress of each process at a fault depends on the machine.',
      ],
    };
  },
};

/** @returns null in a shallow clone, which has no earlier version unless one is named. */
async function earlierVersion({ from, say, onEnd }: FaultContext): Promise<Checkout | null> {
  const revision = from ?? (await revisionBeforeLastMigration().catch(() => null));
  if (revision === null) return null;
  const earlier = await checkOut(revision);
  onEnd(() => earlier.remove());
  say(`  it starts as ${revision}`);
  return earlier;
}
