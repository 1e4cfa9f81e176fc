import type { ConsumeMessage } from 'amqplib';
import { InvalidMessage } from '@quittance/contracts/message.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { type Logger, withRequestId } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { headersOf, propertiesOf } from './amqp-message.ts';
import { type Backoff, backoffMs, pause } from './backoff.ts';
import { type Handler, PermanentError } from './handler.ts';
import { enterInbox } from './inbox.ts';
import { isMessageId } from './message-id.ts';
import { DELIVERY_LIMIT } from './topology.ts';

/** Why a message was given up. `gave_up`: the delivery limit. */
export type DeadReason = 'invalid_message' | 'permanent_error' | 'gave_up';

/** What a delivery came to. `left`: the process is stopping; unsettled, the message goes back to its queue. */
export type Result =
  | { result: 'done' | 'duplicate' | 'left' }
  | { result: 'failed'; error: unknown }
  | { result: 'dead'; reason: DeadReason; error: unknown };

export type DeliveryTiming = {
  /** Pauses while the database can't be reached. */
  unavailable: Backoff;
  /** How long a message is held for that; below the 30 minutes after which RabbitMQ takes an unsettled message back. */
  holdMs: number;
  /** Pauses before a message whose handler failed goes back to its queue. */
  failed: Backoff;
};

export const defaultTiming: DeliveryTiming = {
  unavailable: { firstMs: 100, maxMs: 5_000 },
  holdMs: 15 * 60_000,
  failed: { firstMs: 250, maxMs: 30_000 },
};

export type DeliveryContext = {
  pool: Pool;
  handler: Handler;
  timing: DeliveryTiming;
  stopping: AbortSignal;
  logger: Logger;
  /** Seconds of one try, by handler. */
  duration: ReturnType<Metrics['histogram']>;
};

/** Takes one message from its bytes to its effect. Never throws; the caller settles it with RabbitMQ by the result. */
export async function takeDelivery(delivery: ConsumeMessage, context: DeliveryContext): Promise<Result> {
  const { messageId, correlationId } = propertiesOf(delivery);
  const requestId = typeof correlationId === 'string' && correlationId !== '' ? correlationId : String(messageId);
  return await withRequestId(requestId, async () => {
    try {
      return { result: await takeEffect(delivery, requestId, context) };
    } catch (error) {
      if (context.stopping.aborted) return { result: 'left' };
      if (error instanceof InvalidMessage) return { result: 'dead', reason: 'invalid_message', error };
      if (error instanceof PermanentError) return { result: 'dead', reason: 'permanent_error', error };
      // RabbitMQ would do this itself, but only we know the error that belongs beside the message.
      if (failuresBefore(delivery) >= DELIVERY_LIMIT) return { result: 'dead', reason: 'gave_up', error };
      await pause(backoffMs(failuresBefore(delivery), context.timing.failed), context.stopping);
      return { result: 'failed', error };
    }
  });
}

/**
 * While the database can't be reached the message is held and tried again, so that an outage of ours counts against no
 * message. The hold is bounded because some errors only look like an outage, such as a statement that is always too slow.
 */
async function takeEffect(
  delivery: ConsumeMessage,
  requestId: string,
  context: DeliveryContext,
): Promise<'done' | 'duplicate'> {
  const { handler, timing, stopping } = context;
  const { messageId, message } = parseDelivery(delivery, handler);
  const logger = context.logger.child({ handler: handler.name, message_id: messageId });
  const startMs = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const end = context.duration.startTimer({ handler: handler.name });
    try {
      return await transaction(context.pool, async (tx) => {
        if (!(await enterInbox(tx, handler.name, messageId))) return 'duplicate';
        await handler.handle(message, { tx, messageId, requestId, logger });
        faultPoint('message-handled');
        return 'done';
      }).finally(end);
    } catch (error) {
      const heldMs = performance.now() - startMs;
      if (!isUnavailable(error) || error instanceof PermanentError || heldMs > timing.holdMs) throw error;
      const retryMs = Math.round(backoffMs(attempt, timing.unavailable));
      logger.warn(
        { error, held_ms: Math.round(heldMs), retry_ms: retryMs },
        'The database is not available; holding the message',
      );
      await pause(retryMs, stopping);
      if (stopping.aborted) throw error;
    }
  }
}

/** @throws InvalidMessage for everything that the same bytes would meet again. */
function parseDelivery(delivery: ConsumeMessage, { message }: Handler): { messageId: string; message: unknown } {
  const { messageId } = propertiesOf(delivery);
  if (!isMessageId(messageId)) throw new InvalidMessage('The message id is not a UUID');
  const { version } = headersOf(delivery);
  if (typeof version !== 'number' || version > message.version) {
    throw new InvalidMessage(`${message.name}: version ${String(version)} is not one of 1 to ${message.version}`);
  }
  return { messageId, message: message.parse(parseJson(delivery.content, message.name)) };
}

function parseJson(content: Buffer, name: string): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw new InvalidMessage(`${name}: the body is not JSON`, { cause: error });
  }
}

/**
 * How often this message was handed out before. RabbitMQ before 4.3 counts a lost connection as a delivery, 4.3 and later
 * keep that apart as "acquired"; taking the larger one gives up after the same number everywhere, crashes included.
 */
function failuresBefore(delivery: ConsumeMessage): number {
  const { headers } = delivery.properties;
  const counts = [headers?.['x-delivery-count'], headers?.['x-acquired-count']]
    .map(Number)
    .filter(Number.isSafeInteger);
  return Math.max(0, ...counts);
}
