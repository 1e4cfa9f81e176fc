import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

const INTERVAL_MS = 60_000;

type Context = LoopContext & {
  db: Queryable;
  /** The time of chain-watcher's database; null when it does not report it. */
  readClock: () => Promise<Date | null>;
  /** Where the difference is stored. */
  clocks: ClockDifference;
};

/**
 * Compares the clocks of the two databases: chain-watcher reports by its own clock when it first read a transfer, and payments are created
 * by ours. On one server there is one clock, and the difference is 0.
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
      // The other clock may show anything between our two readings; only a value outside them is a difference.
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
 * The certain minimum by which the clock of chain-watcher's database is ahead of ours, in milliseconds; negative when it is behind; 0 when
 * both are on one server.
 */
export type ClockDifference = { ms: number };

/** Converts the time of the first reading from chain-watcher's clock to ours, because payments are created by ours. */
export const byOurClock = (message: TransferObserved, { ms }: ClockDifference): TransferObserved =>
  ms === 0 || message.first_seen_at === undefined
    ? message
    : { ...message, first_seen_at: rfc3339(new Date(Date.parse(message.first_seen_at) - ms)) };

/** Widens a span of our clock so that it also holds by chain-watcher's. The rules then decide about the transfers found by our clock. */
export const widened = ({ from, to }: { from: Date; to: Date }, { ms }: ClockDifference) => ({
  from: rfc3339(new Date(from.getTime() - Math.abs(ms))),
  to: rfc3339(new Date(to.getTime() + Math.abs(ms))),
});
