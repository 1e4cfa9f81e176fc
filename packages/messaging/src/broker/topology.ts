import type { Channel } from 'amqplib';
import type { MessageDefinition } from '@quittance/contracts/message.ts';
import { AccessChanged } from '@quittance/contracts/messages/access-changed.ts';
import { MerchantRegistered } from '@quittance/contracts/messages/merchant-registered.ts';
import { MerchantStatusChanged } from '@quittance/contracts/messages/merchant-status-changed.ts';
import { NoticeRaised } from '@quittance/contracts/messages/notice-raised.ts';
import { PaymentClosed } from '@quittance/contracts/messages/payment-closed.ts';
import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { PaymentPaid } from '@quittance/contracts/messages/payment-paid.ts';
import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { WebhookConfigured } from '@quittance/contracts/messages/webhook-configured.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';

/**
 * Who subscribes to what: service → handler → message. Each row is one queue, `<service>.<handler>`.
 *
 * Every process declares the whole table each time it connects, not only its own rows. So messages are kept for a service
 * that never started yet, and the order in which services start does not matter.
 */
export const subscriptions: Record<ServiceName, Record<string, MessageDefinition<unknown>>> = {
  'api-gateway': {},
  payments: {
    'transfer-observed': TransferObserved,
    'access-changed': AccessChanged,
    'webhook-configured': WebhookConfigured,
  },
  'chain-watcher': {
    'payment-created': PaymentCreated,
    'payment-closed': PaymentClosed,
  },
  'webhook-dispatcher': {
    'payment-paid': PaymentPaid,
    'notice-raised': NoticeRaised,
    'merchant-status-changed': MerchantStatusChanged,
  },
  quota: {
    'merchant-registered': MerchantRegistered,
    'merchant-status-changed': MerchantStatusChanged,
    'payment-created': PaymentCreated,
  },
};

/** One row of the table above. */
export type Binding = { queue: string; service: ServiceName; handler: string; message: MessageDefinition<unknown> };

export const bindings: readonly Binding[] = (Object.keys(subscriptions) as ServiceName[]).flatMap((service) =>
  Object.entries(subscriptions[service]).map(([handler, message]) => ({
    queue: `${service}.${handler}`,
    service,
    handler,
    message,
  })),
);

/** Durable topic exchange through which every message goes; the routing key is the message's name. */
export const EXCHANGE = 'quittance';
/** Durable direct exchange for dead letters; the routing key is the name of the queue they come from. */
export const DEAD_EXCHANGE = 'quittance.dead';

/**
 * How often one message may be redelivered before it becomes a dead letter. Together with the growing pause between
 * attempts (consumer/retry.ts) 20 means about seven minutes: long enough for a deployment to be rolled back, short enough
 * that a poison message is noticed the same hour. Always explicit, because the default is none on 3.x and 20 on 4.x.
 */
export const DELIVERY_LIMIT = 20;

/**
 * Queues that operators read: a message that was delivered and returned counts as a delivery on RabbitMQ before 4.3.
 * "Unlimited" is spelt differently on 3.x and 4.x, so this is a number that no amount of reading reaches.
 */
export const READ_DELIVERY_LIMIT = 1_000_000;

/**
 * A deleted queue is declared again after this pause, not at once. RabbitMQ 3.10 notifies its consumers of the deletion
 * about 50 ms late; a queue of the same name that is back by then gets their old subscriptions, whose messages are lost
 * to every consumer. 4.0 notifies them at once.
 */
export const REDECLARE_PAUSE_MS = 1_000;

export function deadQueueOf(queue: string): string {
  return `${queue}.dead`;
}

/** Declares every exchange, queue and binding. Declaring what already exists changes nothing. */
export async function declareTopology(channel: Channel): Promise<void> {
  await channel.assertExchange(EXCHANGE, 'topic', { durable: true });
  await channel.assertExchange(DEAD_EXCHANGE, 'direct', { durable: true });
  for (const binding of bindings) await declareQueue(channel, binding);
}

/** The dead queue comes first, so that every queue has a place for its dead letters. */
export async function declareQueue(channel: Channel, { queue, message }: Binding): Promise<void> {
  const deadQueue = deadQueueOf(queue);
  await channel.assertQueue(deadQueue, {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': READ_DELIVERY_LIMIT },
  });
  await channel.bindQueue(deadQueue, DEAD_EXCHANGE, queue);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-dead-letter-exchange': DEAD_EXCHANGE,
      'x-dead-letter-routing-key': queue,
      // A dead letter can be a payment. The default strategy drops it while the dead queue has no leader; this one
      // keeps it in the source queue until the dead queue has confirmed it. It requires reject-publish, which changes
      // nothing here: no queue has a maximum length, since a full one would have to refuse or drop money.
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  });
  await channel.bindQueue(queue, EXCHANGE, message.name);
}
