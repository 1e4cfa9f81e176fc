import type { Channel } from 'amqplib';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { pause } from '@quittance/runtime/concurrency/backoff.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { createSemaphore, type Semaphore } from '@quittance/runtime/concurrency/semaphore.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import type { Broker } from '../broker/broker.ts';
import { closeChannel, createReconnectingChannel } from '../broker/channel.ts';
import { startQueueGauges } from '../broker/queue-gauges.ts';
import { createSignatureCheck } from '../broker/signature.ts';
import type { LegacyRecord } from '../legacy-use.ts';
import { UnsafeQueue, isRefusal, prepareQueue } from '../broker/declare.ts';
import { type Binding, REDECLARE_PAUSE_MS, bindings } from '../broker/topology.ts';
import { createAcknowledger } from './acknowledger.ts';
import { createConsumerMetrics } from './consumer-metrics.ts';
import type { Handler } from './handler.ts';
import { startCleaning } from '../schema/cleaning.ts';
import { inboxRetention } from './inbox.ts';
import { createProcessor } from './processor.ts';
import { type RetryPolicy, defaultRetryPolicy } from './delivery.ts';

export type Consumers = {
  /** Stops receiving messages, waits (at most 10 s) for the running handlers, and closes its channels. */
  close(): Promise<void>;
};

export type ConsumerOptions = {
  broker: Broker;
  pool: Pool;
  /** As in the topology, e.g. 'payments'. */
  service: ServiceName;
  handlers: Handler[];
  /** Which signatures are accepted. */
  trust: Pick<Trust, 'publicKeys' | 'sharedTokens'>;
  /** Notified of unsigned messages that are accepted. */
  legacy?: Pick<LegacyRecord, 'accepted'>;
  logger: Logger;
  metrics: Metrics;
  /** How many messages each handler has at once (default 32, and two batches for a batch handler). */
  prefetch?: number;
  retryPolicy?: Partial<RetryPolicy>;
};

/**
 * Runs each handler on its queue: inbox rows, effect and commit in one transaction, then the acknowledgements. The layers around a handler
 * are in processor.ts. Returns immediately; consuming begins when RabbitMQ is reached and resumes after every loss.
 * @throws Error when a handler is not in the topology, or not for that message.
 */
export function startConsumers(options: ConsumerOptions): Consumers {
  const { service, handlers, logger } = options;
  const bound = handlers.map((handler) => ({ handler, binding: bindingOf(service, handler) }));
  const unhandled = bindings.filter((row) => row.service === service && !bound.some(({ binding }) => binding === row));
  for (const { queue } of unhandled) logger.error({ queue }, 'A queue has no handler and will only grow');
  const share = createSemaphore(Math.max(1, Math.floor(options.pool.options.max * POOL_SHARE)));
  const parts = [
    ...bound.map(({ handler, binding }) => startConsumer({ ...options, share }, handler, binding)),
    startCleaning(options, { name: 'inbox-cleaning', intervalMs: CLEAN_INTERVAL_MS, ...inboxRetention }),
    startQueueGauges({ ...options, queues: bound.map(({ binding }) => binding.queue) }),
  ];
  return {
    async close() {
      await Promise.all(parts.map((part) => part.close()));
    },
  };
}

const CLEAN_INTERVAL_MS = 600_000;
/** How many single messages a handler processes at the same time. */
const PREFETCH = 32;
/**
 * The share of the pool's connections for all messages that are processed one by one. The rest is for requests, loops, and the one batch
 * that each batch handler has in its transaction.
 */
const POOL_SHARE = 0.5;
/** Handlers are single transactions, and the database ends each within this time. */
const DRAIN_LIMIT_MS = 10_000;
const CANCEL_LIMIT_MS = 3_000;

/** One handler on its own connection, so that a problem with one queue does not affect the others. */
function startConsumer(options: ConsumerOptions & { share: Semaphore }, handler: Handler, binding: Binding): Consumers {
  const { pool, broker } = options;
  const { queue } = binding;
  // While one batch is in its transaction, the next one is collected.
  const prefetch = options.prefetch ?? (handler.batchSize === 1 ? PREFETCH : 2 * handler.batchSize);
  const logger = options.logger.child({ queue });
  const metrics = createConsumerMetrics(options.metrics, handler.name);
  const stopping = new AbortController();
  const processor = createProcessor({
    pool,
    share: options.share,
    queue,
    handler,
    checkSignature: createSignatureCheck(options.trust, handler.message, () =>
      options.legacy?.accepted('unsigned_message'),
    ),
    retryPolicy: { ...defaultRetryPolicy, ...options.retryPolicy },
    stopping: stopping.signal,
    logger,
    acknowledge: createAcknowledger({
      broker,
      queue,
      handler: handler.name,
      logger,
      metrics,
      stopping: stopping.signal,
    }),
    metrics,
  });
  let consumerTag = '';
  const connection = broker.openConsuming(queue);
  const usability = createUsability(broker, queue, logger, options.metrics);

  const channel = createReconnectingChannel<Channel>({
    connection,
    logger,
    open: async (live) => {
      await usability.watch(prepareQueue(live, binding));
      return live.createChannel();
    },
    setUp: async (opened) => {
      // Per consumer: RabbitMQ 4 supports nothing else.
      await opened.prefetch(prefetch, false);
      const reply = await opened.consume(queue, (delivery) => {
        if (delivery === null) void reopen(opened, logger, stopping.signal);
        else processor.process({ channel: opened, delivery });
      });
      consumerTag = reply.consumerTag;
    },
  });

  return {
    async close() {
      stopping.abort();
      // A killed broker does not answer, and a closed channel refuses the call.
      const cancelled = (async () => channel.current()?.cancel(consumerTag))();
      await withTimeout(CANCEL_LIMIT_MS, cancelled, 'cancelling the consumer').catch(() => undefined);
      await withTimeout(DRAIN_LIMIT_MS, processor.idle(), 'draining the handlers').catch((error: unknown) =>
        logger.warn({ error }, 'Stopped while a handler was still running'),
      );
      await channel.close();
      await connection.close();
    },
  };
}

/** Reports a queue that is not consumed, and why: RabbitMQ refuses it to us, or it could lose messages. */
function createUsability({ unusableQueues }: Broker, queue: string, logger: Logger, metrics: Metrics) {
  const unusable = metrics.gauge(
    'messaging_queue_unusable',
    '1 while a queue is not consumed, because it could lose messages or cannot be declared',
    ['queue'],
  );
  const show = (isUnusable: boolean): void => {
    unusable.set({ queue }, Number(isUnusable));
    unusableQueues[isUnusable ? 'add' : 'delete'](queue);
  };
  show(false);
  return {
    async watch(preparing: Promise<void>): Promise<void> {
      try {
        await preparing;
        show(false);
      } catch (error) {
        // Anything else is an outage, which the connection reports.
        if (error instanceof UnsafeQueue || isRefusal(error)) {
          show(true);
          logger.error({ error }, 'The queue is not consumed; all others are');
        }
        throw error;
      }
    },
  };
}

/** The queue was deleted while it was consumed. A new channel declares it again and consumes from it. */
async function reopen(channel: Channel, logger: Logger, stopping: AbortSignal): Promise<void> {
  logger.error('The queue was deleted; declaring it again');
  await pause(REDECLARE_PAUSE_MS, stopping);
  await closeChannel(channel);
}

function bindingOf(service: ServiceName, handler: Handler): Binding {
  const binding = bindings.find((row) => row.service === service && row.handler === handler.name);
  if (binding?.message.name === handler.message.name) return binding;
  throw new Error(
    `${service} has no row ${handler.name} for ${handler.message.name} in packages/messaging/src/broker/topology.ts`,
  );
}
