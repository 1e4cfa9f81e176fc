import type { Pool } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { ensureAttemptPartitions } from '../store/backlog.ts';

const INTERVAL_MS = 6 * 3_600_000;

/** Creates the coming months' partitions of the attempts table, two months ahead. */
export function startPartitionsLoop({ pool, logger, metrics }: LoopContext & { pool: Pool }): Loop {
  const run = async () => {
    await ensureAttemptPartitions(pool);
    return { more: false };
  };
  return startLoop({ name: 'partitions', intervalMs: INTERVAL_MS, logger, metrics, run });
}
