import {
  type MessageDefinition,
  AccessChanged,
  MerchantRegistered,
  MerchantStatusChanged,
  NoticeRaised,
  PaymentClosed,
  PaymentCreated,
  PaymentPaid,
  RatesObserved,
  TransferObserved,
  WebhookConfigured,
} from '@quittance/contracts/messages.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';

/**
 * Which service subscribes to what: service → handler → message. Each row is one queue, `<service>.<handler>`.
 *
 * All of it is declared before the first service starts (set-up.ts), so messages are kept even for a service that has never started. Each
 * process declares what is missing, as far as its user may.
 */
export const subscriptions: Record<ServiceName, Record<string, MessageDefinition<unknown>>> = {
  'api-gateway': {},
  payments: {
    'transfer-observed': TransferObserved,
    'access-changed': AccessChanged,
    'webhook-configured': WebhookConfigured,
    'rates-observed': RatesObserved,
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

/** Durable topic exchange for every message; the routing key is the message's name. */
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
 * Limit for queues that operators read: RabbitMQ before 4.3 counts a message that was delivered and returned as a delivery. 3.x and 4.x
 * spell "unlimited" differently, so this is a number that reading never reaches.
 */
export const READ_DELIVERY_LIMIT = 1_000_000;

/**
 * A deleted queue is declared again after this pause, not immediately. RabbitMQ 3.10 notifies its consumers of the deletion about 50 ms
 * late. If a queue of the same name exists by then, it gets their old subscriptions, and messages for these are lost to every consumer. 4.0
 * notifies them immediately.
 */
export const REDECLARE_PAUSE_MS = 1_000;

/** The queue with the audit of operators' actions on dead letters; see dead-letter/actions.ts. */
export const ACTIONS_QUEUE = 'quittance.dead-letter-actions';

export function deadQueueOf(queue: string): string {
  return `${queue}.dead`;
}

/** Arguments of a queue and of its dead queue. */
export const queueArguments = (queue: string) => ({
  'x-queue-type': 'quorum',
  'x-delivery-limit': DELIVERY_LIMIT,
  'x-dead-letter-exchange': DEAD_EXCHANGE,
  'x-dead-letter-routing-key': queue,
  // A dead letter can be a payment. The default strategy drops it while the dead queue has no leader; this one
  // keeps it in the source queue until the dead queue has confirmed it. It requires reject-publish, which changes
  // nothing here: no queue has a maximum length, since a full one would have to refuse or drop money.
  'x-dead-letter-strategy': 'at-least-once',
  'x-overflow': 'reject-publish',
});
export const deadQueueArguments = { 'x-queue-type': 'quorum', 'x-delivery-limit': READ_DELIVERY_LIMIT };

/** RabbitMQ's permissions of a user, as regular expressions over the names of queues and exchanges. */
export type Permissions = { configure: string; write: string; read: string };

/**
 * A service publishes to the exchange, declares and reads its own queues, and counts their dead letters, for which RabbitMQ 4.2.6 and later
 * require some permission for the dead queue. Sending a copy to the end of a queue, and sending a dead letter, is publishing too. The
 * permission to publish a message does not prove who sent it: its signature does.
 */
export function permissionsOf(service: ServiceName): Permissions {
  const own = bindings.flatMap((row) => (row.service === service ? [row.queue] : []));
  const written = own.length === 0 ? [EXCHANGE] : [EXCHANGE, DEAD_EXCHANGE, 'amq.default', ...own];
  const read = [EXCHANGE, ...own, ...own.map(deadQueueOf)];
  return { configure: anyOf(own), write: anyOf(written), read: anyOf(read) };
}

/** The same over the routing keys of a topic exchange: what a user may publish to it, and bind its queues to. */
export type TopicPermissions = { exchange: string; write: string; read: string };

/** Without them a service could bind its own queue to other services' messages. */
export function topicPermissionsOf(service: ServiceName): TopicPermissions {
  const published = bindings.filter(({ message }) => message.published_by === service);
  const subscribed = bindings.filter((row) => row.service === service);
  return { exchange: EXCHANGE, write: anyOf(messagesOf(published)), read: anyOf(messagesOf(subscribed)) };
}

const messagesOf = (rows: readonly Binding[]): string[] => [...new Set(rows.map(({ message }) => message.name))];

/**
 * For the user of `ops dead-letter`: it reads dead letters, sends them back to their queues, and records both. It needs a permission for
 * the queues themselves to see whether they have consumers. Write permission allows binding a queue, but to no exchange.
 */
export const operatorPermissions: Permissions = {
  configure: anyOf([ACTIONS_QUEUE]),
  write: anyOf(['amq.default', ACTIONS_QUEUE, ...bindings.map(({ queue }) => queue)]),
  read: anyOf([ACTIONS_QUEUE, ...bindings.map(({ queue }) => deadQueueOf(queue))]),
};

function anyOf(names: readonly string[]): string {
  const [first = '', ...more] = names.map((name) => name.replaceAll('.', '\\.'));
  return more.length === 0 ? `^${first}$` : `^(${[first, ...more].join('|')})$`;
}
