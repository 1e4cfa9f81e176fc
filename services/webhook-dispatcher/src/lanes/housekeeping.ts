import type { Pool } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { attemptErrors } from './attempt-report.ts';
import {
  countFailingLanes,
  countMisplacedAttempts,
  readBacklog,
  type Backlog,
  GIVE_UP_BATCH,
  giveUpDeliveries,
  ensureAttemptPartitions,
} from './backlog.sql.ts';
import { giveUpAfterSeconds } from '../events/outcome.ts';

const MEASURE_INTERVAL_MS = 10_000;
const GIVE_UP_INTERVAL_MS = 60_000;
const PARTITIONS_INTERVAL_MS = 6 * 3_600_000;
/** Lanes with their own series. Without a limit every merchant would have one. */
const LONGEST_LANES = 20;

/** Exports the backlog as metrics. Every replica exports the same values: use their maximum, not their sum. */
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
  return startLoop({ name: 'measure', intervalMs: MEASURE_INTERVAL_MS, logger, metrics, run });
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
    // Removes merchants that no longer wait. No await between reset and set, so a scrape never finds the gauges empty.
    laneDue.reset();
    laneOldest.reset();
    for (const { merchantId, due, oldestSeconds } of longest) {
      laneDue.set({ merchant_id: merchantId }, due);
      laneOldest.set({ merchant_id: merchantId }, oldestSeconds);
    }
  };
}

/** Gives up events whose receiver has failed for longer than all retries together take. */
export function startGiveUpLoop(context: LoopContext & { pool: Pool; retryDelaysSeconds: readonly number[] }): Loop {
  const { pool, retryDelaysSeconds, logger, metrics } = context;
  const givenUp = metrics.counter(
    'webhook_given_up_events_total',
    'Events failed because their receiver stayed dead while their attempts were skipped',
  );
  const afterSeconds = giveUpAfterSeconds(retryDelaysSeconds);
  const run = async () => {
    const count = await giveUpDeliveries(pool, afterSeconds);
    givenUp.inc(count);
    if (count > 0) logger.warn({ events: count, after_seconds: afterSeconds }, 'events of dead receivers given up');
    return { more: count === GIVE_UP_BATCH };
  };
  return startLoop({ name: 'give-up', intervalMs: GIVE_UP_INTERVAL_MS, logger, metrics, run });
}

/** Creates the partitions of the attempts table two months ahead. */
export function startPartitionsLoop({ pool, logger, metrics }: LoopContext & { pool: Pool }): Loop {
  const run = async () => {
    await ensureAttemptPartitions(pool);
    return { more: false };
  };
  return startLoop({ name: 'partitions', intervalMs: PARTITIONS_INTERVAL_MS, logger, metrics, run });
}
