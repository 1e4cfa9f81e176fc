import type { ChannelModel } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Broker } from './broker.ts';
import { closeChannel } from './channel.ts';
import { deadQueueOf } from './topology.ts';

const INTERVAL_MS = 10_000;
/** A quorum queue without a leader answers nobody. */
const LIMIT_MS = 5_000;

/**
 * Shows what waits in a service's own queues and in their dead queues, so that somebody who scrapes nothing but our services sees it.
 * Every replica says the same of a queue: take the maximum. While RabbitMQ cannot be reached, the numbers stay what they were.
 */
export function startQueueGauges(options: {
  broker: Broker;
  queues: readonly string[];
  logger: Logger;
  metrics: Metrics;
  /** Between two looks; ten seconds unless said otherwise. */
  intervalMs?: number;
}): Loop {
  const { broker, queues, logger, metrics, intervalMs = INTERVAL_MS } = options;
  const ready = metrics.gauge('messaging_queue_messages_ready', 'Messages in a queue that no process has taken yet', [
    'queue',
  ]);
  const consumers = metrics.gauge('messaging_queue_consumers', 'Processes that take messages from a queue', ['queue']);
  const dead = metrics.gauge('messaging_dead_letters', 'Messages of a queue that were given up and wait for a person', [
    'queue',
  ]);

  let asked: Promise<void> | null = null;

  async function look(connection: ChannelModel): Promise<void> {
    const channel = await connection.createChannel();
    // The question that was refused fails by itself.
    channel.on('error', () => undefined);
    try {
      for (const queue of queues) {
        const own = await channel.checkQueue(queue);
        ready.set({ queue }, own.messageCount);
        consumers.set({ queue }, own.consumerCount);
        dead.set({ queue }, (await channel.checkQueue(deadQueueOf(queue))).messageCount);
      }
    } finally {
      await closeChannel(channel);
    }
  }

  return startLoop({
    name: 'queue-gauges',
    intervalMs,
    logger,
    metrics,
    run: async (signal) => {
      // That there is none is said elsewhere, and often enough.
      const connection = await broker.consuming.connected(signal);
      // A question that is still open is not asked once more, because its channel cannot be closed before the answer.
      asked ??= look(connection).finally(() => (asked = null));
      await withTimeout(LIMIT_MS, asked);
      return { more: false };
    },
  });
}
