import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { ClockDifference } from '../settlement/clock-difference.ts';

const INTERVAL_MS = 60_000;

type Context = LoopContext & {
  db: Queryable;
  /** The time of chain-watcher's database; null where it does not say. */
  readClock: () => Promise<Date | null>;
  /** Where the difference is kept. */
  clocks: ClockDifference;
};

/**
 * Compares the two databases' clocks: chain-watcher says by its own when it first read a transfer, and payments are created by ours. On one
 * server they are one clock, and the difference is 0.
 */
export function startCompareClocksLoop({ db, readClock, clocks, logger, metrics }: Context): Loop {
  const gauge = metrics.gauge(
    'payment_chain_clock_difference_seconds',
    "How far chain-watcher's database clock is from this service's",
  );
  return startLoop({
    name: 'compare-clocks',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const before = await readNow(db);
      const clock = await readClock();
      const after = await readNow(db);
      if (clock === null) return { more: false };
      // Between the two readings the other clock may show anything; only what is outside is a difference.
      const [ahead, behind] = [clock.getTime() - after.getTime(), before.getTime() - clock.getTime()];
      clocks.ms = ahead > 0 ? ahead : behind > 0 ? -behind : 0;
      gauge.set(clocks.ms / 1000);
      return { more: false };
    },
  });
}

async function readNow(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  if (rows[0] === undefined) throw new Error('the statement returned no row');
  return rows[0].now;
}
