import type { Channel, ConsumeMessage } from 'amqplib';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { pause } from './backoff.ts';
import type { Broker } from './broker.ts';
import { closeChannel, keepChannel } from './channel.ts';
import { type DeliveryContext, type DeliveryTiming, defaultTiming, takeDelivery } from './delivery.ts';
import type { Handler } from './handler.ts';
import { startInboxCleaning } from './inbox.ts';
import { createSettler } from './settle.ts';
import { type Binding, REDECLARE_PAUSE_MS, bindings, declareQueue } from './topology.ts';

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
  /** How many messages each handler works on at once (default 32). */
  prefetch?: number;
  timing?: Partial<DeliveryTiming>;
};

/**
 * Runs each handler on its queue: inbox row, effect and commit in one transaction, then the acknowledgement.
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
  return {
    async close() {
      await Promise.all([...consumers.map((consumer) => consumer.close()), cleaning.close()]);
    },
  };
}

/** One handler on its own channel, so that trouble with one queue does not touch the others. */
function startConsumer(options: ConsumerOptions, handler: Handler, binding: Binding): Consumers {
  const { broker, metrics, prefetch = 32 } = options;
  const { queue } = binding;
  const logger = options.logger.child({ queue });
  const stopping = new AbortController();
  const settle = createSettler({ broker, queue, handler, logger, metrics });
  const inFlight = new Set<Promise<void>>();
  let consumerTag = '';
  const context: DeliveryContext = {
    pool: options.pool,
    handler,
    timing: { ...defaultTiming, ...options.timing },
    stopping: stopping.signal,
    logger: options.logger,
    duration: metrics.histogram('messaging_handler_duration_seconds', 'One try of a handler, with its transaction', [
      'handler',
    ]),
  };

  async function take(from: Channel, delivery: ConsumeMessage): Promise<void> {
    const result = await takeDelivery(delivery, context);
    faultPoint('message-committed');
    await settle(from, delivery, result);
  }

  const channel = keepChannel<Channel>({
    connection: broker.consuming,
    logger,
    open: (connection) => connection.createChannel(),
    setUp: async (opened) => {
      await declareQueue(opened, binding);
      // Per consumer, which is all that RabbitMQ 4 allows.
      await opened.prefetch(prefetch, false);
      const reply = await opened.consume(queue, (delivery) => {
        if (delivery === null) return void reopen(opened, { logger, stopping: stopping.signal });
        const taken = take(opened, delivery).finally(() => inFlight.delete(taken));
        inFlight.add(taken);
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
      await drain(inFlight, logger);
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

async function drain(inFlight: Set<Promise<void>>, logger: Logger): Promise<void> {
  const drained = new AbortController();
  void Promise.all(inFlight).then(() => {
    drained.abort();
  });
  await pause(DRAIN_LIMIT_MS, drained.signal);
  if (inFlight.size > 0) logger.warn({ in_flight: inFlight.size }, 'Stopped before every handler was done');
}

function bindingOf(service: ServiceName, handler: Handler): Binding {
  const binding = bindings.find((row) => row.service === service && row.handler === handler.name);
  if (binding?.message.name === handler.message.name) return binding;
  throw new Error(
    `${service} has no row ${handler.name} for ${handler.message.name} in packages/messaging/src/topology.ts`,
  );
}
