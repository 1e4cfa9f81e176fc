import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';
import type { Clock } from '@quittance/runtime/time.ts';
import type { Pool } from './pool.ts';

const INTERVAL_MS = 15_000;
/** A slower answer is not precise enough: the database may have read its clock at any time in between. */
const MAX_ROUND_TRIP_MS = 1_000;

export type ClockComparison = Loop & {
  /** This process's clock minus the database's, in milliseconds; null until the first comparison. */
  differenceMs: () => number | null;
};

/**
 * Compares this process's clock with the database's regularly, to within half a second. No decision depends on it: it
 * is a metric for an alert that a machine's clock is not synchronised. Another metric says whether the database answered.
 * @param pool gets one short statement every 15 s.
 */
export function startClockComparison({
  pool,
  clock,
  logger,
  metrics,
  intervalMs = INTERVAL_MS,
}: LoopContext & { pool: Pool; clock: Clock; intervalMs?: number }): ClockComparison {
  const gauge = metrics.gauge('clock_difference_seconds', "This process's clock less the database's");
  const reachable = metrics.gauge('database_reachable', '1 while the database answers; it is asked every 15 s');
  let known: number | null = null;
  const loop = startLoop({
    name: 'compare-clocks',
    intervalMs,
    logger,
    metrics,
    run: async () => {
      const compared = await compareClocks(pool, clock).catch((error: unknown) => {
        reachable.set(0);
        throw error;
      });
      reachable.set(1);
      if (compared.roundTripMs <= MAX_ROUND_TRIP_MS) {
        known = compared.differenceMs;
        gauge.set(known / 1000);
      }
      return { more: false };
    },
  });
  return { ...loop, differenceMs: () => known };
}

/**
 * Assumes that the database reads its clock in the middle of the round trip. The round trip doesn't include waiting for
 * a connection.
 */
export async function compareClocks(pool: Pool, clock: Clock): Promise<{ differenceMs: number; roundTripMs: number }> {
  const connection = await pool.connect();
  let isBroken = true;
  try {
    const askedAt = performance.now();
    const { rows } = await connection.query<{ now: Date }>('select clock_timestamp() as now');
    const now = clock().getTime();
    const roundTripMs = performance.now() - askedAt;
    if (rows[0] === undefined) throw new Error('the database returned no time');
    isBroken = false;
    return { differenceMs: now - roundTripMs / 2 - rows[0].now.getTime(), roundTripMs };
  } finally {
    // A connection is closed if its statement failed.
    connection.release(isBroken);
  }
}
