import { pause } from '@quittance/runtime/concurrency/backoff.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { propertiesOf } from '../broker/amqp-message.ts';
import type { Broker } from '../broker/broker.ts';
import { toDeadLetter, toRequeued } from '../dead-letter/message.ts';
import type { ConsumerMetrics } from './consumer-metrics.ts';
import { type Delivered, FAILURES_HEADER, type Result, failuresBefore } from './delivery.ts';

/** The pause between attempts to send a copy of a message while RabbitMQ accepts none. */
const REQUEUE_PAUSE_MS = 5_000;

/** Acknowledges a delivery, returns it to its queue, or makes it a dead letter. Never throws. */
export type Acknowledge = (delivered: Delivered, outcome: Result) => Promise<void>;

export function createAcknowledger({
  broker,
  queue,
  handler,
  stopping,
  logger,
  metrics,
}: {
  broker: Broker;
  queue: string;
  handler: string;
  stopping: AbortSignal;
  logger: Logger;
  metrics: ConsumerMetrics;
}): Acknowledge {
  /** Acknowledges only once the dead queue has stored the message. */
  async function deadLetter({ channel, delivery }: Delivered, outcome: Result & { result: 'dead' }): Promise<void> {
    const { error, reason } = outcome;
    const [published] = await broker.publish([toDeadLetter(delivery, { queue, handler, reason, error })]);
    if (published !== 'confirmed') {
      channel.reject(delivery, true);
      return;
    }
    channel.ack(delivery);
    metrics.deadLettered(reason);
    logger.error({ error, reason, message_id: propertiesOf(delivery).messageId }, 'A message became a dead letter');
  }

  async function settle(delivered: Delivered, outcome: Result): Promise<void> {
    const { channel, delivery } = delivered;
    switch (outcome.result) {
      case 'done':
      case 'duplicate':
        channel.ack(delivery);
        break;
      case 'failed':
        logger.error(
          { error: outcome.error, message_id: propertiesOf(delivery).messageId },
          'A handler failed; the message returns to its queue',
        );
        // Reject, not nack: from 4.3 on a nack does not count towards the delivery limit.
        channel.reject(delivery, true);
        break;
      case 'dead':
        await deadLetter(delivered, outcome);
        break;
      case 'requeued':
        await requeue(delivered, { broker, queue, stopping });
        break;
      case 'postponed':
      case 'abandoned':
      // RabbitMQ takes it back when the channel closes.
    }
  }

  return async (delivered, outcome) => {
    metrics.consumed(outcome.result);
    try {
      await settle(delivered, outcome);
    } catch (error) {
      // The channel is gone: RabbitMQ delivers the message again, and the inbox knows whether it has taken effect.
      logger.debug({ error }, 'A delivery could not be acknowledged');
    }
  };
}

/**
 * Sends a copy to the end of the queue. Returning the message would count as an attempt, and so would holding it until RabbitMQ requeues
 * it. A crash between copy and acknowledgement leaves both, and the inbox lets only one take effect.
 */
async function requeue(
  { channel, delivery }: Delivered,
  { broker, queue, stopping }: { broker: Broker; queue: string; stopping: AbortSignal },
): Promise<void> {
  const copy = toRequeued(delivery, queue, { [FAILURES_HEADER]: failuresBefore(delivery) });
  while (!stopping.aborted) {
    const [published] = await broker.publish([copy]);
    if (published === 'confirmed') {
      channel.ack(delivery);
      return;
    }
    await pause(REQUEUE_PAUSE_MS, stopping);
  }
}
