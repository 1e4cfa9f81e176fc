import { endRun } from '../../services/payments/test/model/run.ts';
import { openSharedDatabase } from '../../services/payments/test/model/world.ts';
import { liveThrough } from './day/day.ts';
import { judge, wrongHistory } from './day/judge.ts';
import { countDay, newCount, tableOf } from './day/table.ts';
import type { Fault } from './fault.ts';

/** Number of days of each kind. */
const USUAL_RUNS = 20;
/** More histories of one kind add nothing. */
const HISTORIES_PRINTED = 3;

export const fault: Fault = {
  name: 'day',
  about:
    'days of usual traffic on one wallet, by unique and by plain amounts: late, short and doubled transfers, and whether a transfer pays another customer’s payment',
  async run({ seed, runs, say, onEnd }) {
    const world = await openSharedDatabase();
    onEnd(() => world.close());
    const count = newCount();
    const broken: string[] = [];
    const lines: string[] = [];
    for (const kind of ['unique', 'plain'] as const) {
      const wrong: string[] = [];
      for (let number = 1; number <= (runs ?? USUAL_RUNS); number += 1) {
        const day = await liveThrough(world, { seed, number, kind });
        const judgement = await judge(world, day);
        countDay(count, day, judgement);
        broken.push(...judgement.broken);
        wrong.push(...judgement.wrong.map((one) => wrongHistory(day, one)));
        await endRun(day.run);
      }
      say(`  the days with ${kind} amounts are done`);
      // With plain amounts on one wallet, the rules allow this ambiguity. The table reports it.
      if (kind === 'unique') broken.push(...wrong);
      else lines.push(...wrong.slice(0, HISTORIES_PRINTED));
    }
    return { broken, lines: [...lines, '', ...tableOf(count)] };
  },
};
