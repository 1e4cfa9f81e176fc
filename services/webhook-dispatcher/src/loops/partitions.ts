import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { ensureAttemptPartitions } from '../store/backlog.ts';

const INTERVAL_MS = 6 * 3_600_000;

/** Creates the coming months' partitions of the attempts table, two months ahead. */
export function startPartitionsLoop({ pool, logger, metrics }: { pool: Pool; logger: Logger; metrics: Metrics }): Loop {
  const run = async () => {
    await ensureAttemptPartitions(pool);
    return { more: false };
  };
  return startLoop({ name: 'partitions', intervalMs: INTERVAL_MS, logger, metrics, run });
}
