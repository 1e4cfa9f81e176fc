import { errorCategories } from '@quittance/contracts/webhook.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { AttemptResult } from '../sending/sender.ts';
import type { Claimed } from '../store/claim.ts';

/** Tells the log and the metrics what becomes of deliveries. */
export type AttemptReport = {
  claimed(claimed: readonly Claimed[]): void;
  ended(delivery: Claimed, result: AttemptResult): void;
  /** No attempt is left in this cycle: from here on the event waits for its merchant or an operator. */
  failed(delivery: Claimed): void;
};

export function createAttemptReport({ logger, metrics }: { logger: Logger; metrics: Metrics }): AttemptReport {
  const claims = metrics.counter('webhook_claimed_deliveries_total', 'Deliveries leased by this process');
  const interruptions = metrics.counter('webhook_interruptions_total', 'Leases that lapsed, noticed at the next claim');
  const attempts = metrics.counter('webhook_attempts_total', 'Attempts by error category, or delivered', ['result']);
  const duration = metrics.histogram('webhook_attempt_duration_seconds', 'Duration of an attempt, body included', [
    'result',
  ]);
  const failures = metrics.counter('webhook_failed_events_total', 'Events whose attempts were used up');
  // A counter that is not there before its first attempt would hide that one from every rate.
  for (const result of ['delivered', ...errorCategories]) attempts.inc({ result }, 0);
  return {
    claimed(claimed) {
      claims.inc(claimed.length);
      interruptions.inc(claimed.filter((delivery) => delivery.lapsed).length);
    },
    ended(delivery, result) {
      const word = result.errorCategory ?? 'delivered';
      attempts.inc({ result: word });
      duration.observe({ result: word }, result.durationMs / 1000);
      logAttempt(logger, delivery, result);
    },
    failed(delivery) {
      failures.inc();
      logger.warn(placeOf(delivery), 'webhook event failed, its attempts are used up');
    },
  };
}

/** One line an attempt; successes are on record in the database, thousands a second at times, and only told when asked for. */
function logAttempt(logger: Logger, delivery: Claimed, result: AttemptResult): void {
  const level = result.errorCategory === null ? 'debug' : 'warn';
  if (!logger.isLevelEnabled(level)) return;
  const line = {
    ...placeOf(delivery),
    duration_ms: result.durationMs,
    http_status: result.httpStatus,
    error_category: result.errorCategory,
    error: result.error ?? undefined,
  };
  logger[level](line, result.errorCategory === null ? 'webhook delivered' : 'webhook attempt failed');
}

/** The host helps to find a fault; the whole URL may hold a secret of the merchant's. */
const placeOf = (delivery: Claimed) => ({
  event_id: delivery.event_id,
  merchant_id: delivery.merchant_id,
  host: delivery.host,
  key_id: delivery.key_id,
  cycle: delivery.cycle,
  attempt: delivery.attempts + 1,
});
