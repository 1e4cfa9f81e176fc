import { randomUUID } from 'node:crypto';
import type { Channel, ConsumeMessage } from 'amqplib';
import { InvalidMessage } from '@quittance/contracts/message.ts';
import { isUnavailable, leavesConnectionUsable } from '@quittance/postgres/errors.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { withRequestId } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { propertiesOf } from '../broker/amqp-message.ts';
import { backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import { type Result, failuresBefore, decode, requestIdOf } from './delivery.ts';
import { type Effect, type EffectContext, holding, takeEffect } from './effect.ts';
import { type DecodedMessage, PermanentError } from './handler.ts';
import type { Acknowledge } from './acknowledger.ts';
import { type Traced, endProcessing, inProcessing, traced } from '../spans.ts';
import { DELIVERY_LIMIT } from '../broker/topology.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';
import { type Semaphore, createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';

/** The way of deliveries to their effect, and back to RabbitMQ. */
export type Taking = {
  /** Sees to a delivery; returns at once. */
  take(channel: Channel, delivery: ConsumeMessage): void;
  /** Settles once everything that was begun has been settled. */
  idle(): Promise<void>;
};

export type TakingContext = EffectContext & {
  queue: string;
  settle: Acknowledge;
  /** How old messages are when they are taken, by handler. */
  ages: ReturnType<Metrics['histogram']>;
  /** Messages that took effect together, by handler. */
  batchSizes: ReturnType<Metrics['histogram']>;
};

type Arrived = { channel: Channel; delivery: ConsumeMessage };
/** `arrivedAtMs` is of performance.now(). */
type Arrival = Arrived & Traced & { heard: DecodedMessage; arrivedAtMs: number };

/** So many messages of broken batches are tried at a time, because the pool's connections are everybody's. */
const ALONE_AT_ONCE = 4;

export function createTaking(context: TakingContext): Taking {
  const { handler, stopping } = context;
  for (const histogram of [context.ages, context.duration, context.batchSizes]) {
    histogram.zero({ handler: handler.name });
  }
  const begun = new Set<Promise<void>>();
  const begin = (work: Promise<void>): void => {
    const tracked = work.finally(() => begun.delete(tracked));
    begun.add(tracked);
  };
  const takesBatches = handler.batchSize > 1;
  const turns = createSemaphore(takesBatches ? ALONE_AT_ONCE : Infinity);
  const gather = createMicroBatcher<Arrival>({
    maxSize: handler.batchSize,
    track: begin,
    run: async (arrived) => {
      const batch = arrived.map((one) => traced(one, context, arrived.length));
      const apart = await withRequestId(requestIdOfBatch(batch), () =>
        inProcessing(batch, () => takeTogether(batch, turns, context)),
      );
      for (const work of apart) begin(work());
    },
  });

  return {
    take(channel, delivery) {
      if (stopping.aborted) return;
      observeAge(delivery, context);
      const arrived = { channel, delivery };
      let arrival: Arrival;
      try {
        arrival = { ...arrived, heard: decode(delivery, handler), arrivedAtMs: performance.now() };
      } catch (error) {
        begin(settleFailure(arrived, error, context));
        return;
      }
      // What failed before might well break a batch again.
      if (takesBatches && failuresBefore(delivery) === 0) gather(arrival);
      else begin(takeAlone(arrival, turns, context));
    },
    async idle() {
      while (begun.size > 0) await Promise.all(begun);
    },
  };
}

/**
 * Takes a batch in one transaction. Only a database that is away holds it up: what may be the trouble of single messages, a lock
 * that one of them waits for included, must not hold up the others.
 * @returns what is left to do apart from the batches, for each message by itself.
 */
async function takeTogether(
  batch: readonly Arrival[],
  turns: Semaphore,
  context: TakingContext,
): Promise<(() => Promise<void>)[]> {
  const { handler, stopping, logger, batchSizes } = context;
  const sinceMs = Math.min(...batch.map(({ arrivedAtMs }) => arrivedAtMs));
  const isHeld = (error: unknown): boolean => !leavesConnectionUsable(error) && !(error instanceof PermanentError);
  let effects: [Arrival, Effect][];
  try {
    effects = await holding({ sinceMs, isHeld }, context, () => takeEffect(batch, context));
  } catch (error) {
    // A lone message has had its try, unless it is one to be held.
    const isTried = batch.length === 1 && !isUnavailable(error);
    if (isTried) return batch.map((one) => () => settleFailure(one, error, context));
    for (const one of batch) endProcessing(one, stopping.aborted ? { result: 'left' } : { result: 'failed', error });
    if (!stopping.aborted) {
      const about = { handler: handler.name, request_ids: batch.map(({ heard }) => heard.requestId) };
      logger.warn({ error, ...about }, 'A batch could not be taken; taking its messages one by one');
    }
    return batch.map((one) => () => takeAlone(one, turns, context));
  }
  faultPoint('message-committed');
  batchSizes.observe({ handler: handler.name }, batch.length);
  for (const [arrival, result] of effects) await settle(arrival, { result }, context);
  return [];
}

/** Takes one message. Between its tries others have their turn. */
async function takeAlone(arrived: Arrival, turns: Semaphore, context: TakingContext): Promise<void> {
  const { arrivedAtMs: sinceMs } = arrived;
  const isHeld = (error: unknown): boolean => isUnavailable(error) && !(error instanceof PermanentError);
  const arrival = traced(arrived, context, 1);
  const take = async (): Promise<void> => {
    let effects: [Arrival, Effect][];
    try {
      effects = await holding({ sinceMs, isHeld }, context, () => turns(() => takeEffect([arrival], context)));
    } catch (error) {
      return settleFailure(arrival, error, context);
    }
    faultPoint('message-committed');
    for (const [, result] of effects) await settle(arrival, { result }, context);
  };
  await withRequestId(arrival.heard.requestId, () => inProcessing([arrival], take));
}

/** For a message whose effect could not be taken; pauses before it gives it back. */
async function settleFailure(arrived: Arrived & Traced, error: unknown, context: TakingContext): Promise<void> {
  const { delivery } = arrived;
  const give = async () => settle(arrived, await judge(delivery, error, context), context);
  await withRequestId(requestIdOf(delivery), () => inProcessing([arrived], give));
}

async function settle(arrived: Arrived & Traced, outcome: Result, context: TakingContext): Promise<void> {
  await context.settle(arrived.channel, arrived.delivery, outcome);
  endProcessing(arrived, outcome);
}

async function judge(delivery: ConsumeMessage, error: unknown, { stopping, timing }: TakingContext): Promise<Result> {
  if (stopping.aborted) return { result: 'left' };
  if (error instanceof InvalidMessage) return { result: 'dead', reason: 'invalid_message', error };
  if (error instanceof PermanentError) return { result: 'dead', reason: 'permanent_error', error };
  // RabbitMQ would do this itself, but only we know the error that belongs beside the message.
  const failures = failuresBefore(delivery);
  if (failures >= DELIVERY_LIMIT) return { result: 'dead', reason: 'retries_exhausted', error };
  await pause(backoffMs(failures, timing.failed), stopping);
  return { result: 'failed', error };
}

function observeAge(delivery: ConsumeMessage, { ages, handler }: TakingContext): void {
  const { timestamp } = propertiesOf(delivery);
  // Somebody else's message may have none. The clock that wrote it is the database's, and may be ahead of ours.
  if (typeof timestamp === 'number')
    ages.observe({ handler: handler.name }, Math.max(0, Date.now() / 1000 - timestamp));
}

/** A batch of several has an id of its own, and nobody's that it might be taken for. */
function requestIdOfBatch(batch: readonly Arrival[]): string {
  const [first, ...others] = batch;
  return first !== undefined && others.length === 0 ? first.heard.requestId : randomUUID();
}
