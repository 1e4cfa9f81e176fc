import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

const INTERVAL_MS = 60_000;

/** How far the clocks of our database and of chain-watcher's are apart for certain, in milliseconds. */
export type ClockDifference = { ms: number };

/**
 * Compares the two databases' clocks: chain-watcher says by its own when it first read a transfer, and payments are created by ours. On one
 * server they are one clock, and the difference is 0.
 * @param readClock the time of chain-watcher's database; null where it does not say.
 */
export function startCompareClocksLoop(
  { db, readClock, logger, metrics }: LoopContext & { db: Queryable; readClock: () => Promise<Date | null> },
  difference: ClockDifference,
): Loop {
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
      // Between the two readings the other clock may show anything; what is outside is a difference.
      difference.ms = Math.max(0, before.getTime() - clock.getTime(), clock.getTime() - after.getTime());
      gauge.set(difference.ms / 1000);
      return { more: false };
    },
  });
}

/** A first reading by our clock, at the latest: a transfer's interval grows by what the clocks differ. */
export const byOurClock = (message: TransferObserved, { ms }: ClockDifference): TransferObserved =>
  ms === 0 || message.first_seen_at === undefined
    ? message
    : { ...message, first_seen_at: rfc3339(new Date(Date.parse(message.first_seen_at) + ms)) };

async function readNow(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  if (rows[0] === undefined) throw new Error('the statement returned no row');
  return rows[0].now;
}
