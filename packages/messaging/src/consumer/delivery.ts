import type { Channel, ConsumeMessage } from 'amqplib';
import { InvalidMessage } from '@quittance/contracts/messages.ts';
import { readTraceparent } from '@quittance/runtime/tracing/tracing.ts';
import { headersOf, propertiesOf, isMessageId } from '../broker/amqp-message.ts';
import type { DeadLetterReason } from '../dead-letter/message.ts';
import type { DecodedMessage, Handler } from './handler.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Backoff, backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';

/** A message as RabbitMQ delivered it, and the channel to acknowledge it on. */
export type Delivered = { channel: Channel; delivery: ConsumeMessage };

/**
 * The outcome of an attempt. `abandoned`: the process stops, and the unacknowledged message returns to its queue. `postponed`: it waits for
 * a lock. `requeued`: the database was away for so long that a copy went to the end of the queue.
 */
export type Result =
  | { result: 'done' | 'duplicate' | 'abandoned' | 'postponed' }
  | { result: 'requeued'; error: unknown }
  | { result: 'failed'; error: unknown }
  | { result: 'dead'; reason: DeadLetterReason; error: unknown };

export const RESULTS = [
  'done',
  'duplicate',
  'abandoned',
  'postponed',
  'requeued',
  'failed',
  'dead',
] as const satisfies Result['result'][];

/** The request that caused the message. A message without one counts as a separate request. */
export function requestIdOf(delivery: ConsumeMessage): string {
  const { messageId, correlationId } = propertiesOf(delivery);
  return typeof correlationId === 'string' && correlationId !== '' ? correlationId : String(messageId);
}

/** @throws InvalidMessage for every problem that the same bytes would have again. */
export function decode(delivery: ConsumeMessage, { message }: Handler): DecodedMessage {
  const { messageId } = propertiesOf(delivery);
  if (!isMessageId(messageId)) throw new InvalidMessage('The message id is not a UUID');
  const { version, traceparent } = headersOf(delivery);
  if (typeof version !== 'number' || version > message.version) {
    throw new InvalidMessage(`${message.name}: version ${String(version)} is not one of 1 to ${message.version}`);
  }
  return {
    payload: message.parse(parseJson(delivery.content, message.name)),
    messageId,
    requestId: requestIdOf(delivery),
    traceparent: readTraceparent(traceparent),
  };
}

/** When it was written to the outbox, to the second; null for a message from another sender without a time. */
export function publishedAt(delivery: ConsumeMessage): Date | null {
  const { timestamp } = propertiesOf(delivery);
  return typeof timestamp === 'number' ? new Date(timestamp * 1000) : null;
}

function parseJson(content: Buffer, name: string): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw new InvalidMessage(`${name}: the body is not JSON`, { cause: error });
  }
}

/** The header in which a requeued copy keeps the failures of the original, whose delivery count it does not have. */
export const FAILURES_HEADER = 'failures';

/**
 * How often this message was delivered before. RabbitMQ before 4.3 counts a lost connection as a delivery; 4.3 and later count it
 * separately as "acquired". The larger number reaches the limit after the same number of attempts on all versions, crashes included.
 */
export function failuresBefore(delivery: ConsumeMessage): number {
  const headers = headersOf(delivery);
  const count = (name: string): number => {
    const value = Number(headers[name]);
    return Number.isSafeInteger(value) ? value : 0;
  };
  return count(FAILURES_HEADER) + Math.max(0, count('x-delivery-count'), count('x-acquired-count'));
}

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
