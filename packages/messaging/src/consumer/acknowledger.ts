import type { Channel, ConsumeMessage } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { propertiesOf } from '../broker/amqp-message.ts';
import type { Broker } from '../broker/broker.ts';
import { toDeadLetter } from '../dead-letter/message.ts';
import { DEAD_REASONS, RESULTS, type Result } from './delivery.ts';
import type { Handler } from './handler.ts';

/** Tells RabbitMQ what became of a delivery. Never throws. */
export type Acknowledge = (channel: Channel, delivery: ConsumeMessage, outcome: Result) => Promise<void>;

export function createAcknowledger(options: {
  broker: Broker;
  queue: string;
  handler: Handler;
  logger: Logger;
  metrics: Metrics;
}): Acknowledge {
  const { broker, queue, handler, logger, metrics } = options;
  const consumed = metrics.counter('messaging_consumed_total', 'Messages taken from queues, by what they came to', [
    'handler',
    'result',
  ]);
  const dead = metrics.counter('messaging_dead_lettered_total', 'Messages given up', ['handler', 'reason']);
  // Shown from the start: a first dead letter that makes its series appear would be no increase to an alert.
  for (const result of RESULTS) consumed.inc({ handler: handler.name, result }, 0);
  for (const reason of DEAD_REASONS) dead.inc({ handler: handler.name, reason }, 0);

  /** Only once the dead queue has the message may its own queue forget it. */
  async function bury(channel: Channel, delivery: ConsumeMessage, outcome: Result & { result: 'dead' }): Promise<void> {
    const { error, reason } = outcome;
    const [sent] = await broker.publish([toDeadLetter(delivery, { queue, handler: handler.name, reason, error })]);
    if (sent === 'confirmed') {
      channel.ack(delivery);
      dead.inc({ handler: handler.name, reason });
      logger.error({ error, reason, message_id: propertiesOf(delivery).messageId }, 'A message became a dead letter');
    } else channel.reject(delivery, true);
  }

  async function settle(channel: Channel, delivery: ConsumeMessage, outcome: Result): Promise<void> {
    consumed.inc({ handler: handler.name, result: outcome.result });
    switch (outcome.result) {
      case 'done':
      case 'duplicate':
        channel.ack(delivery);
        break;
      case 'failed':
        logger.error(
          { error: outcome.error, message_id: propertiesOf(delivery).messageId },
          'A handler failed; trying again',
        );
        // Reject, not nack: from 4.3 on a nack does not count towards the delivery limit.
        channel.reject(delivery, true);
        break;
      case 'dead':
        await bury(channel, delivery, outcome);
        break;
      case 'left':
      // Closing the channel gives it back.
    }
  }

  return async (channel, delivery, outcome) => {
    try {
      await settle(channel, delivery, outcome);
    } catch (error) {
      // The channel is gone: RabbitMQ hands the message out again, and the inbox knows whether it has taken effect.
      logger.debug({ error }, 'A delivery could not be settled');
    }
  };
}
