import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

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

/**
 * How far the clock of chain-watcher's database is ahead of ours for certain, in milliseconds, or behind for a negative number; 0 where both
 * are on one server.
 */
export type ClockDifference = { ms: number };

/** A first reading, which chain-watcher tells by its clock, by ours: payments are created by ours. */
export const byOurClock = (message: TransferObserved, { ms }: ClockDifference): TransferObserved =>
  ms === 0 || message.first_seen_at === undefined
    ? message
    : { ...message, first_seen_at: rfc3339(new Date(Date.parse(message.first_seen_at) - ms)) };

/** A span of ours that is wide enough by chain-watcher's clock, too. What it finds is decided about by ours. */
export const widened = ({ from, to }: { from: Date; to: Date }, { ms }: ClockDifference) => ({
  from: rfc3339(new Date(from.getTime() - Math.abs(ms))),
  to: rfc3339(new Date(to.getTime() + Math.abs(ms))),
});
