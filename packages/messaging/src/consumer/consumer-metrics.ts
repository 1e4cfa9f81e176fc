import type { Metrics } from '@quittance/runtime/metrics.ts';
import { DEAD_LETTER_REASONS, type DeadLetterReason } from '../dead-letter/message.ts';
import { RESULTS, type Result } from './delivery.ts';

/** Messages carry their time in whole seconds. */
const AGE_BUCKETS = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400];
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

export type ConsumerMetrics = ReturnType<typeof createConsumerMetrics>;

/**
 * The metrics of one handler. Each series exists from the start: a series that appears with its first event shows no increase to an alert.
 */
export function createConsumerMetrics(metrics: Metrics, handler: string) {
  const ages = metrics.histogram(
    'messaging_message_age_seconds',
    'Age of a message when a process receives it, since it was written into the outbox',
    ['handler'],
    AGE_BUCKETS,
  );
  const durations = metrics.histogram(
    'messaging_handler_duration_seconds',
    'One attempt of a handler, with its transaction',
    ['handler'],
  );
  const batchSizes = metrics.histogram(
    'messaging_batch_messages',
    'Messages that a batch handler processed in one transaction',
    ['handler'],
    BATCH_BUCKETS,
  );
  const consumed = metrics.counter('messaging_consumed_total', 'Messages consumed from queues, by result', [
    'handler',
    'result',
  ]);
  const dead = metrics.counter('messaging_dead_lettered_total', 'Messages that became dead letters', [
    'handler',
    'reason',
  ]);
  for (const histogram of [ages, durations, batchSizes]) histogram.zero({ handler });
  for (const result of RESULTS) consumed.inc({ handler, result }, 0);
  for (const reason of DEAD_LETTER_REASONS) dead.inc({ handler, reason }, 0);

  return {
    /** The sender uses its database's clock, which may be ahead of ours. */
    received: (publishedAt: Date) =>
      ages.observe({ handler }, Math.max(0, (Date.now() - publishedAt.getTime()) / 1000)),
    /** @returns a function that ends the measurement. */
    startAttempt: () => durations.startTimer({ handler }),
    batchCommitted: (size: number) => batchSizes.observe({ handler }, size),
    consumed: (result: Result['result']) => consumed.inc({ handler, result }),
    deadLettered: (reason: DeadLetterReason) => dead.inc({ handler, reason }),
  };
}
