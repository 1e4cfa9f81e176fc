import type { Channel } from 'amqplib';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { pause } from '@quittance/runtime/concurrency/backoff.ts';
import type { Broker } from '../broker/broker.ts';
import { closeChannel, createReconnectingChannel } from '../broker/channel.ts';
import { type DeliveryTiming, defaultTiming } from './effect.ts';
import type { Handler } from './handler.ts';
import { startInboxCleaning } from './inbox.ts';
import { startQueueGauges } from '../broker/queue-gauges.ts';
import { createAcknowledger } from './acknowledger.ts';
import { type Taking, createTaking } from './processor.ts';
import { type Binding, REDECLARE_PAUSE_MS, bindings, declareQueue } from '../broker/topology.ts';

export type Consumers = {
  /** Takes no more messages, waits (10 s at most) for the handlers that run, and leaves. */
  close(): Promise<void>;
};

export type ConsumerOptions = {
  broker: Broker;
  pool: Pool;
  /** As in the topology, e.g. 'payments'. */
  service: ServiceName;
  handlers: Handler[];
  logger: Logger;
  metrics: Metrics;
  /** How many messages each handler has at once (default 32, and two batches for one that takes batches). */
  prefetch?: number;
  timing?: Partial<DeliveryTiming>;
};

/**
 * Runs each handler on its queue: inbox rows, effect and commit in one transaction, then the acknowledgements.
 * Returns at once; consuming begins when RabbitMQ is reached and resumes after every loss.
 * @throws Error when a handler is not in the topology, or not for that message.
 */
export function startConsumers(options: ConsumerOptions): Consumers {
  const { service, handlers, logger } = options;
  const bound = handlers.map((handler) => ({ handler, binding: bindingOf(service, handler) }));
  const unheard = bindings.filter((row) => row.service === service && !bound.some(({ binding }) => binding === row));
  for (const { queue } of unheard) logger.error({ queue }, 'This queue has no handler and will only grow');
  const consumers = bound.map(({ handler, binding }) => startConsumer(options, handler, binding));
  const cleaning = startInboxCleaning(options);
  const gauges = startQueueGauges({ ...options, queues: bound.map(({ binding }) => binding.queue) });
  return {
    async close() {
      await Promise.all([...consumers.map((consumer) => consumer.close()), cleaning.close(), gauges.close()]);
    },
  };
}

/** How many messages a handler of single ones works on at once. */
const PREFETCH = 32;
/** Messages tell their time in whole seconds. */
const AGE_BUCKETS = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400];
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

/** One handler on its own channel, so that trouble with one queue does not touch the others. */
function startConsumer(options: ConsumerOptions, handler: Handler, binding: Binding): Consumers {
  const { pool, broker, metrics } = options;
  const { queue } = binding;
  // While one batch is in its transaction, the next one gathers.
  const prefetch = options.prefetch ?? (handler.batchSize === 1 ? PREFETCH : 2 * handler.batchSize);
  const logger = options.logger.child({ queue });
  const stopping = new AbortController();
  let consumerTag = '';
  const taking = createTaking({
    pool,
    queue,
    handler,
    timing: { ...defaultTiming, ...options.timing },
    stopping: stopping.signal,
    logger: options.logger,
    settle: createAcknowledger({ broker, queue, handler, logger, metrics }),
    ages: metrics.histogram(
      'messaging_message_age_seconds',
      'Age of a message when a process takes it, since it was written into the outbox',
      ['handler'],
      AGE_BUCKETS,
    ),
    duration: metrics.histogram('messaging_handler_duration_seconds', 'One try of a handler, with its transaction', [
      'handler',
    ]),
    batchSizes: metrics.histogram(
      'messaging_batch_messages',
      'Messages that a handler of batches took in one transaction',
      ['handler'],
      BATCH_BUCKETS,
    ),
  });

  const channel = createReconnectingChannel<Channel>({
    connection: broker.consuming,
    logger,
    open: (connection) => connection.createChannel(),
    setUp: async (opened) => {
      await declareQueue(opened, binding);
      // Per consumer, which is all that RabbitMQ 4 allows.
      await opened.prefetch(prefetch, false);
      const reply = await opened.consume(queue, (delivery) => {
        if (delivery === null) return void reopen(opened, { logger, stopping: stopping.signal });
        taking.take(opened, delivery);
      });
      consumerTag = reply.consumerTag;
    },
  });

  return {
    async close() {
      stopping.abort();
      await channel
        .current()
        ?.cancel(consumerTag)
        .catch(() => undefined);
      await drain(taking, logger);
      await channel.close();
    },
  };
}

/** The queue was deleted under its consumer. A new channel declares it again and consumes from it. */
async function reopen(
  channel: Channel,
  { logger, stopping }: { logger: Logger; stopping: AbortSignal },
): Promise<void> {
  logger.error('The queue was deleted; declaring it again');
  await pause(REDECLARE_PAUSE_MS, stopping);
  await closeChannel(channel);
}

/** Handlers are single transactions, which the database ends sooner than this. */
const DRAIN_LIMIT_MS = 10_000;

async function drain(taking: Taking, logger: Logger): Promise<void> {
  const drained = new AbortController();
  void taking.idle().then(() => {
    drained.abort();
  });
  await pause(DRAIN_LIMIT_MS, drained.signal);
  if (!drained.signal.aborted) logger.warn('Stopped before every handler was done');
}

function bindingOf(service: ServiceName, handler: Handler): Binding {
  const binding = bindings.find((row) => row.service === service && row.handler === handler.name);
  if (binding?.message.name === handler.message.name) return binding;
  throw new Error(
    `${service} has no row ${handler.name} for ${handler.message.name} in packages/messaging/src/broker/topology.ts`,
  );
}
