import { errorCategories } from '@quittance/contracts/webhook.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { spanOrigin, inSpan, type Span, tracer } from '@quittance/runtime/tracing/tracing.ts';
import type { AttemptResult } from '../sending/sender.ts';
import type { Claimed } from './claim.sql.ts';
import { merchantOf } from './lane.sql.ts';

/** How an attempt can fail. A superseded event fails without an attempt. */
export const attemptErrors = errorCategories.filter((category) => category !== 'superseded');

export type AttemptReport = ReturnType<typeof createAttemptReport>;

/** Reports deliveries and attempts to the log, metrics and traces. */
export function createAttemptReport({ logger, metrics }: { logger: Logger; metrics: Metrics }) {
  const claims = metrics.counter('webhook_claimed_deliveries_total', 'Deliveries leased by this process');
  const interruptions = metrics.counter(
    'webhook_interruptions_total',
    'Leases that expired, counted at the next claim',
  );
  const attempts = metrics.counter('webhook_attempts_total', 'Attempts by error category, or delivered', ['result']);
  const duration = metrics.histogram('webhook_attempt_duration_seconds', 'Duration of an attempt, body included', [
    'result',
  ]);
  const failures = metrics.counter('webhook_failed_events_total', 'Events whose attempts were used up');
  // Start at zero: the first attempt would otherwise create its series, which is not an increase.
  for (const result of ['delivered', ...attemptErrors]) attempts.inc({ result }, 0);
  return {
    claimed(claimed: readonly Claimed[]) {
      claims.inc(claimed.length);
      interruptions.inc(claimed.filter((delivery) => delivery.lapsed).length);
    },
    /** @returns a function to call when the attempt has ended. */
    started(delivery: Claimed) {
      const span = startSpan(delivery);
      return (ended: AttemptResult) => {
        const result = ended.errorCategory ?? 'delivered';
        attempts.inc({ result });
        duration.observe({ result }, ended.durationMs / 1000);
        inSpan(span, () => logAttempt(logger, delivery, ended));
        endSpan(span, ended);
      };
    },
    /** The cycle has no attempt left. Only the merchant or an operator can retry the event. */
    failed(delivery: Claimed) {
      failures.inc();
      logger.warn(fieldsOf(delivery), 'webhook event failed, its attempts are used up');
    },
  };
}

/** One line per attempt. There may be thousands of successes a second. The database has them, so they are only logged at level debug. */
function logAttempt(logger: Logger, delivery: Claimed, result: AttemptResult): void {
  const level = result.errorCategory === null ? 'debug' : 'warn';
  if (!logger.isLevelEnabled(level)) return;
  const line = {
    ...fieldsOf(delivery),
    duration_ms: result.durationMs,
    http_status: result.httpStatus,
    error_category: result.errorCategory,
    error_code: result.errorCode,
  };
  logger[level](line, result.errorCategory === null ? 'webhook delivered' : 'webhook attempt failed');
}

/** With the host, which helps to find a fault, but without the URL, which may contain a secret of the merchant's. */
const fieldsOf = (delivery: Claimed) => ({
  event_id: delivery.event_id,
  merchant_id: merchantOf(delivery.lane_id),
  host: delivery.host,
  key_id: delivery.key_id,
  cycle: delivery.cycle,
  attempt: delivery.attempts + 1,
});

/**
 * The span of one POST. The POST has no trace header: the headers of a webhook are part of its contract, and our traces are private.
 * @returns undefined unless the event's trace is exported.
 */
function startSpan({
  traceparent,
  created_at: since,
  cycle,
  attempts,
  host,
  event_id: eventId,
}: Claimed): Span | undefined {
  if (traceparent === null) return undefined;
  return tracer()?.start('POST webhook', 'client', {
    // A manual retry starts its own trace, and so does an attempt hours later.
    origin: cycle > 1 ? { parent: null, links: [traceparent] } : spanOrigin(traceparent, since),
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': attempts,
      'server.address': host,
      'quittance.event_id': eventId,
      'quittance.webhook_cycle': cycle,
    },
  });
}

function endSpan(span: Span | undefined, { httpStatus, errorCategory }: AttemptResult): void {
  if (span === undefined) return;
  if (httpStatus !== null) span.set({ 'http.response.status_code': httpStatus });
  if (errorCategory !== null) span.fail(errorCategory);
  span.end();
}
