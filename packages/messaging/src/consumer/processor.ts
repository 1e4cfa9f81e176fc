import type { Message } from 'amqplib';
import { InvalidMessage } from '@quittance/contracts/messages.ts';
import { isOutage, isUnavailable, isValueRefused, leavesConnectionUsable } from '@quittance/postgres/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type Transaction, transaction } from '@quittance/postgres/transaction.ts';
import { backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import { createKeyedQueue, type KeyedQueue } from '@quittance/runtime/concurrency/keyed-queue.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';
import { type Semaphore, createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { type Logger, withRequestId } from '@quittance/runtime/logger.ts';
import { onBehalfOf } from '@quittance/runtime/tracing/on-behalf-of.ts';
import { NotSigned } from '../broker/signature.ts';
import { DELIVERY_LIMIT } from '../broker/topology.ts';
import type { Acknowledge } from './acknowledger.ts';
import type { ConsumerMetrics } from './consumer-metrics.ts';
import {
  type Delivered,
  type Result,
  decode,
  failuresBefore,
  publishedAt,
  requestIdOf,
  type RetryPolicy,
  retryWhileUnavailable,
} from './delivery.ts';
import { Busy, type DecodedMessage, type Handler, PermanentError } from './handler.ts';
import { type Effect, handleOnce } from './inbox.ts';
import { type Traced, endProcessSpan, startProcessSpan } from '../spans.ts';

type ProcessorOptions = {
  pool: Pool;
  /** Limits the messages that all handlers of the service process one by one. */
  share: Semaphore;
  queue: string;
  handler: Handler;
  /** @throws NotSigned. */
  checkSignature: (message: Message) => void;
  retryPolicy: RetryPolicy;
  stopping: AbortSignal;
  logger: Logger;
  acknowledge: Acknowledge;
  metrics: ConsumerMetrics;
};

type Context = ProcessorOptions & {
  /** Limits the messages that are processed one by one, and among them those of one merchant. */
  singles: Semaphore;
  ofMerchant: KeyedQueue;
  /** Keeps the promise until it settles, so that `idle` waits for it. */
  track: (work: Promise<void>) => void;
  addToBatch: (decoded: Decoded) => Promise<void>;
};

/** `receivedAtMs` is from performance.now(). `postponed`: how often a lock that it needs was not free. */
type Decoded = Delivered & Traced & { message: DecodedMessage; receivedAtMs: number; postponed: number };

/** How many messages of failed batches are processed at the same time: everything else needs connections of the pool too. */
const SINGLES_AT_ONCE = 4;
/** Only these wait when a merchant's rows are locked. Two, so that one is ready when the other's lock ends. */
const SINGLES_OF_MERCHANT = 2;

/** Takes the deliveries of one queue through their handler, and settles them at RabbitMQ. */
export function createProcessor(options: ProcessorOptions) {
  const { handler, stopping, metrics } = options;
  const { spacingMs = 0 } = handler.message;
  const hasBatches = handler.batchSize > 1;
  const running = new Set<Promise<void>>();
  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  };
  const singles = createSemaphore(hasBatches ? SINGLES_AT_ONCE : Infinity);
  const addToBatch = createMicroBatcher({
    maxSize: handler.batchSize,
    ...(spacingMs > 0 && { rest: () => pause(spacingMs, stopping) }),
    run: async (batch: readonly Decoded[]) => {
      await processBatch(batch, context);
      return batch.map(() => undefined);
    },
  });
  const ofMerchant = createKeyedQueue({ perKey: SINGLES_OF_MERCHANT });
  const context: Context = { ...options, singles, ofMerchant, track, addToBatch };

  return {
    /** Starts the processing of a delivery; returns immediately. */
    process(delivered: Delivered): void {
      if (stopping.aborted) return;
      const { delivery } = delivered;
      const sentAt = publishedAt(delivery);
      if (sentAt !== null) metrics.received(sentAt);
      let decoded: Decoded;
      try {
        options.checkSignature(delivery);
        decoded = { ...delivered, message: decode(delivery, handler), receivedAtMs: performance.now(), postponed: 0 };
      } catch (error) {
        track(acknowledgeFailure(delivered, error, context));
        return;
      }
      // A message that failed before might fail its batch again.
      track(hasBatches && failuresBefore(delivery) === 0 ? addToBatch(decoded) : processOne(decoded, context));
    },
    /** Resolves once nothing is being processed. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** The layers around a handler, outermost first. @throws the error of the last attempt. */
function attempt(
  batch: readonly Decoded[],
  { limit, isRetryable }: { limit: Semaphore; isRetryable: (error: unknown) => boolean },
  context: Context,
): Promise<[Decoded, Effect][]> {
  const { handler } = context;
  const sinceMs = Math.min(...batch.map(({ receivedAtMs }) => receivedAtMs));
  return retryWhileUnavailable({ sinceMs, isRetryable }, context, () =>
    limit(() =>
      inTransaction(context, (tx) =>
        handleOnce(tx, handler.name, batch, (messages) =>
          handler.handle(messages, { tx, logger: loggerOf(batch, context) }),
        ),
      ),
    ),
  );
}

async function inTransaction<T>(
  { pool, stopping, metrics }: Context,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  // The pauses and semaphores before may have lasted until the process stops.
  stopping.throwIfAborted();
  const endAttempt = metrics.startAttempt();
  try {
    return await transaction(pool, work);
  } finally {
    endAttempt();
  }
}

/** Processes one message alone. It leaves the semaphore between its attempts. */
async function processOne(decoded: Decoded, context: Context): Promise<void> {
  const one = startProcessSpan(decoded, context, 1);
  const isRetryable = (error: unknown): boolean => isUnavailable(error) && !(error instanceof PermanentError);
  await inContextOf([one], async () => {
    try {
      const { merchant_id: merchantId } = one.message.payload as { merchant_id: string };
      const limit: Semaphore = (run) => context.ofMerchant(merchantId, () => context.singles(() => context.share(run)));
      await acknowledgeAll(await attempt([one], { limit, isRetryable }, context), context);
    } catch (error) {
      if (error instanceof Busy) postpone([one], context, (again) => processOne(again, context));
      else await acknowledgeFailure(one, error, context);
    }
  });
}

/**
 * Processes a batch in one transaction, which is retried only while the database is away. A failure that single messages may cause,
 * including a lock that one of them waits for, must not delay the others: each message is then processed alone, in the background.
 */
async function processBatch(decoded: readonly Decoded[], context: Context): Promise<void> {
  const batch = decoded.map((one) => startProcessSpan(one, context, decoded.length));
  const isRetryable = (error: unknown): boolean => !leavesConnectionUsable(error) && !(error instanceof PermanentError);
  await inContextOf(batch, async () => {
    try {
      const effects = await attempt(batch, { limit: (run) => run(), isRetryable }, context);
      context.metrics.batchCommitted(batch.length);
      await acknowledgeAll(effects, context);
    } catch (error) {
      const isBusy = ({ message }: Decoded): boolean =>
        error instanceof Busy && error.payloads.includes(message.payload);
      const busy = batch.filter(isBusy);
      if (busy.length === 0) {
        processSingly(batch, error, context);
        return;
      }
      // These join a later batch, and the rest of this one is processed immediately.
      postpone(busy, context, context.addToBatch);
      const rest = batch.filter((one) => !isBusy(one));
      if (rest.length > 0) await processBatch(rest, context);
    }
  });
}

/** Passes messages on together after a pause, in the background. They stay unacknowledged until then. */
function postpone(busy: readonly Decoded[], context: Context, then: (again: Decoded) => Promise<void>): void {
  const { metrics, retryPolicy, stopping, track } = context;
  for (const one of busy) {
    metrics.consumed('postponed');
    endProcessSpan(one, { result: 'postponed' });
  }
  const failures = Math.max(...busy.map(({ postponed }) => postponed));
  const resume = async (): Promise<void> => {
    await pause(backoffMs(failures, retryPolicy.busy), stopping);
    // Unacknowledged messages return to their queue when the process ends.
    if (stopping.aborted) return;
    await Promise.all(busy.map(({ span: _, ...one }) => then({ ...one, postponed: one.postponed + 1 })));
  };
  track(resume());
}

function processSingly(batch: readonly Decoded[], error: unknown, context: Context): void {
  const { handler, stopping, logger, track } = context;
  const [first] = batch;
  if (batch.length === 1 && first !== undefined && !isUnavailable(error)) {
    track(acknowledgeFailure(first, error, context));
    return;
  }
  if (!stopping.aborted) {
    const requestIds = batch.map(({ message }) => message.requestId);
    const fields = { error, handler: handler.name, request_ids: requestIds };
    logger.warn(fields, 'A batch failed; its messages are processed one by one');
  }
  for (const one of batch) {
    endProcessSpan(one, stopping.aborted ? { result: 'abandoned' } : { result: 'failed', error });
    track(processOne(one, context));
  }
}

async function acknowledgeAll(effects: readonly [Decoded, Effect][], context: Context): Promise<void> {
  faultPoint('message-committed');
  for (const [one, result] of effects) await acknowledge(one, { result }, context);
}

async function acknowledgeFailure(one: Delivered & Traced, error: unknown, context: Context): Promise<void> {
  await withRequestId(requestIdOf(one.delivery), async () => {
    await acknowledge(one, await failureResult(one, error, context), context);
  });
}

async function acknowledge(one: Delivered & Traced, outcome: Result, context: Context): Promise<void> {
  await context.acknowledge(one, outcome);
  endProcessSpan(one, outcome);
}

/** Pauses before a message returns to its queue. */
async function failureResult(
  { delivery }: Delivered,
  error: unknown,
  { stopping, retryPolicy }: Context,
): Promise<Result> {
  if (stopping.aborted) return { result: 'abandoned' };
  if (error instanceof NotSigned) return { result: 'dead', reason: 'not_signed', error };
  const isInvalid = error instanceof InvalidMessage || isValueRefused(error);
  if (isInvalid) return { result: 'dead', reason: 'invalid_message', error };
  if (error instanceof PermanentError) return { result: 'dead', reason: 'permanent_error', error };
  if (isOutage(error)) return { result: 'requeued', error };
  const failures = failuresBefore(delivery);
  // RabbitMQ would dead-letter it too, but without the error.
  if (failures >= DELIVERY_LIMIT) return { result: 'dead', reason: 'retries_exhausted', error };
  await pause(backoffMs(failures, retryPolicy.failed), stopping);
  return { result: 'failed', error };
}

const inContextOf = <T>(batch: readonly Decoded[], fn: () => Promise<T>): Promise<T> =>
  onBehalfOf(
    batch.map(({ message, span }) => ({ requestId: message.requestId, span })),
    fn,
  );

function loggerOf(batch: readonly Decoded[], { handler, logger }: Context): Logger {
  const [first] = batch;
  const fields = batch.length === 1 ? { message_id: first?.message.messageId } : { messages: batch.length };
  return logger.child({ handler: handler.name, ...fields });
}
