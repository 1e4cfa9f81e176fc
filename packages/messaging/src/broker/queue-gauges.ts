import type { ChannelModel } from 'amqplib';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Broker } from './broker.ts';
import { closeChannel } from './channel.ts';
import { deadQueueOf } from './topology.ts';

const INTERVAL_MS = 10_000;
/** A quorum queue without a leader does not answer. */
const TIMEOUT_MS = 5_000;

/**
 * Exports the sizes of a service's queues and of their dead queues, for a Prometheus that scrapes only our services. Every replica reports
 * the same queues: take the maximum. While RabbitMQ is unreachable, the values do not change.
 */
export function startQueueGauges(
  options: LoopContext & {
    broker: Broker;
    queues: readonly string[];
    /** Default 10 s. */
    intervalMs?: number;
  },
): Loop {
  const { broker, queues, logger, metrics, intervalMs = INTERVAL_MS } = options;
  const ready = metrics.gauge(
    'messaging_queue_messages_ready',
    'Messages in a queue that are not delivered to a process yet',
    ['queue'],
  );
  const consumers = metrics.gauge('messaging_queue_consumers', 'Processes that consume a queue', ['queue']);
  const dead = metrics.gauge('messaging_dead_letters', 'Dead letters of a queue, which wait for an operator', [
    'queue',
  ]);

  let pending: Promise<void> | null = null;

  async function readQueues(connection: ChannelModel): Promise<void> {
    const channel = await connection.createChannel();
    // Without a listener an 'error' event would end the process; the refused call itself fails with the reason.
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
      const connection = await broker.consuming.connected(signal);
      // Its channel cannot be closed before RabbitMQ answers, so a second read does not start while one is pending.
      pending ??= readQueues(connection).finally(() => (pending = null));
      await withTimeout(TIMEOUT_MS, pending, 'reading the queues');
      return { more: false };
    },
  });
}
