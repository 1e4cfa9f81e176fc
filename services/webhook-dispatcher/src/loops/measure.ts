import type { Pool } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { attemptErrors } from '../delivery/attempt-report.ts';
import { countFailingLanes, countMisplacedAttempts, readBacklog, type Backlog } from '../store/backlog.ts';

const INTERVAL_MS = 10_000;
/** Lanes that are shown by name. Without a limit every merchant would have a series. */
const LONGEST_LANES = 20;

/** Keeps the gauges of what waits to be sent. Every replica shows the same numbers: use their maximum, not their sum. */
export function startMeasureLoop({ pool, logger, metrics }: LoopContext & { pool: Pool }): Loop {
  const show = createBacklogGauges(metrics);
  const misplaced = metrics.gauge('webhook_misplaced_attempts', 'Attempts in the default partition, up to 1,000');
  const failing = metrics.gauge(
    'webhook_failing_lanes',
    'Merchants with events waiting whose receiver failed since its last success, by how it failed last',
    ['error_category'],
  );
  const run = async () => {
    show(await readBacklog(pool, { longest: LONGEST_LANES }));
    const lanes = await countFailingLanes(pool);
    for (const category of attemptErrors) failing.set({ error_category: category }, lanes.get(category) ?? 0);
    misplaced.set(await countMisplacedAttempts(pool));
    return { more: false };
  };
  return startLoop({ name: 'measure', intervalMs: INTERVAL_MS, logger, metrics, run });
}

function createBacklogGauges(metrics: Metrics): (backlog: Backlog) => void {
  const gauges = {
    due: metrics.gauge('webhook_backlog_deliveries', 'Deliveries that are due and may be sent, up to 20,000'),
    oldestSeconds: metrics.gauge(
      'webhook_oldest_due_seconds',
      'How long the oldest delivery of a PAID event that may be sent has been due',
    ),
    overdueLanes: metrics.gauge('webhook_overdue_lanes', 'Merchants with a PAID event due for more than a minute'),
    heldLanes: metrics.gauge('webhook_held_lanes', 'Blocked merchants with deliveries waiting'),
    openLanes: metrics.gauge(
      'webhook_open_lane_circuits',
      'Merchants whose receiver gets no attempts, or one probe, because it keeps failing',
    ),
  };
  const laneDue = metrics.gauge(
    'webhook_lane_backlog_deliveries',
    'Deliveries due, up to 1,000, of the 20 merchants whose oldest one waits longest',
    ['merchant_id'],
  );
  const laneOldest = metrics.gauge(
    'webhook_lane_oldest_due_seconds',
    'How long the oldest delivery of one of these 20 merchants has been due',
    ['merchant_id'],
  );
  return ({ longest, ...counts }) => {
    for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) gauges[name].set(counts[name]);
    // Removes merchants that no longer wait. Nothing is awaited between reset and set, so no scrape sees the gap.
    laneDue.reset();
    laneOldest.reset();
    for (const { merchantId, due, oldestSeconds } of longest) {
      laneDue.set({ merchant_id: merchantId }, due);
      laneOldest.set({ merchant_id: merchantId }, oldestSeconds);
    }
  };
}
