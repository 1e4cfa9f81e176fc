import type { Logger } from '@quittance/runtime/logger.ts';
import { type Backoff, backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';

export type RetryPolicy = {
  /** Pauses while the database is unavailable. */
  unavailable: Backoff;
  /** Longest wait for the database; below the 30 minutes after which RabbitMQ requeues an unacknowledged message. */
  maxWaitMs: number;
  /** Pauses while a lock that the handler needs is not free. */
  busy: Backoff;
  /** Pauses before a message whose handler failed returns to its queue. */
  failed: Backoff;
};

export const defaultRetryPolicy: RetryPolicy = {
  unavailable: { firstMs: 100, maxMs: 5_000 },
  maxWaitMs: 10 * 60_000,
  busy: { firstMs: 10, maxMs: 1_000 },
  failed: { firstMs: 250, maxMs: 30_000 },
};

/**
 * Runs again, with pauses, while `isRetryable` is true for the error, so that an outage of the database does not count as a failed
 * delivery. The wait is bounded for two reasons: some errors only look like an outage, such as a statement that is always too slow; and
 * RabbitMQ requeues unacknowledged messages, which counts as a delivery. A message that still waits then is requeued as a copy, which does
 * not count.
 * @param sinceMs performance.now() when the oldest message arrived.
 * @throws the error of the last attempt.
 */
export async function retryWhileUnavailable<T>(
  { sinceMs, isRetryable }: { sinceMs: number; isRetryable: (error: unknown) => boolean },
  { retryPolicy, stopping, logger }: { retryPolicy: RetryPolicy; stopping: AbortSignal; logger: Logger },
  run: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await run();
    } catch (error) {
      const waitedMs = Math.round(performance.now() - sinceMs);
      if (!isRetryable(error) || waitedMs > retryPolicy.maxWaitMs) throw error;
      const retryMs = Math.round(backoffMs(failures, retryPolicy.unavailable));
      logger.warn(
        { error, waited_ms: waitedMs, retry_ms: retryMs },
        'The database is unavailable; the messages wait for it',
      );
      await pause(retryMs, stopping);
      if (stopping.aborted) throw error;
    }
  }
}
