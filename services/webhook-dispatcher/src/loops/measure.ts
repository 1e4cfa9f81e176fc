import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop } from '@quittance/runtime/loop.ts';
import type { Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { readBacklog } from '../store/backlog.ts';

const INTERVAL_MS = 10_000;

/** Keeps the gauges of what waits to be sent. Every replica shows the same numbers: take their maximum, not their sum. */
export function startMeasureLoop({ pool, logger, metrics }: { pool: Pool; logger: Logger; metrics: Metrics }): Loop {
  const due = metrics.gauge('webhook_backlog_deliveries', 'Deliveries that are due and not being sent');
  const oldest = metrics.gauge('webhook_oldest_due_seconds', 'How long the oldest due delivery has been due');
  const held = metrics.gauge('webhook_held_lanes', 'Blocked merchants with deliveries waiting');
  return startLoop({
    name: 'measure',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async () => {
      const backlog = await readBacklog(pool);
      due.set(backlog.due);
      oldest.set(backlog.oldestSeconds);
      held.set(backlog.heldLanes);
      return { more: false };
    },
  });
}
