import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';
import type { Clock } from '@quittance/runtime/time.ts';
import type { Pool } from './pool.ts';

const INTERVAL_MS = 15_000;
/** An answer that took longer says too little: the database may have read its clock at any time in between. */
const MAX_ROUND_TRIP_MS = 1_000;

export type ClockComparison = Loop & {
  /** This process's clock less the database's, in milliseconds; null until they were compared. */
  differenceMs: () => number | null;
};

/**
 * Compares this process's clock with the database's now and then, to within half a second. Nothing is decided by it: it is a metric, from
 * which an alert tells that one of the machines is not synchronised.
 * @param pool asked for one short statement every 15 s.
 */
export function startClockComparison({
  pool,
  clock,
  logger,
  metrics,
  intervalMs = INTERVAL_MS,
}: LoopContext & { pool: Pool; clock: Clock; intervalMs?: number }): ClockComparison {
  const gauge = metrics.gauge('clock_difference_seconds', "This process's clock less the database's");
  let known: number | null = null;
  const loop = startLoop({
    name: 'compare-clocks',
    intervalMs,
    logger,
    metrics,
    run: async () => {
      const compared = await compareClocks(pool, clock);
      if (compared.roundTripMs <= MAX_ROUND_TRIP_MS) {
        known = compared.differenceMs;
        gauge.set(known / 1000);
      }
      return { more: false };
    },
  });
  return { ...loop, differenceMs: () => known };
}

/** The database reads its clock in the middle of the round trip, as far as anybody knows. Waiting for a connection is no part of it. */
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
    // A connection whose statement failed is closed.
    connection.release(isBroken);
  }
}
