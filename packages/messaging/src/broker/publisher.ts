import type { ConfirmChannel, Message, Options } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { pause } from '@quittance/runtime/concurrency/backoff.ts';
import { createReconnectingChannel } from './channel.ts';
import type { ReconnectingConnection } from './connection.ts';
import { ensureTopology } from './declare.ts';
import { REDECLARE_PAUSE_MS } from './topology.ts';

/** One message to publish. */
export type Outgoing = {
  exchange: string;
  routingKey: string;
  body: Buffer;
  properties: Options.Publish & { messageId: string };
};

/**
 * Only `confirmed` means that RabbitMQ has stored it; the others count as not sent. `returned`: no queue is bound to it. `failed`: refused,
 * or no answer; it may have arrived nevertheless.
 */
export type Outcome = (typeof OUTCOMES)[number];
const OUTCOMES = ['confirmed', 'returned', 'failed'] as const;

/** A quorum queue that lost its leader is silent for up to 10 s until it has a new one, so a confirm may take longer than that. */
const CONFIRM_LIMIT_MS = 15_000;

export type Publisher = ReturnType<typeof createPublisher>;

/** @param options.onReady is called whenever publishing has become possible. */
export function createPublisher(options: {
  connection: ReconnectingConnection;
  onReady?: () => void;
  logger: Logger;
  metrics: Metrics;
}) {
  const { connection, logger, metrics } = options;
  const latency = metrics.histogram(
    'messaging_confirm_duration_seconds',
    'From publishing a message to its confirmation',
    [],
  );
  const published = metrics.counter('messaging_published_total', 'Messages published, by outcome', ['outcome']);
  for (const outcome of OUTCOMES) published.inc({ outcome }, 0);
  /** Ids of returned messages; RabbitMQ returns a message before it confirms it. */
  let returned = new Set<string>();
  const stopping = new AbortController();

  const channel = createReconnectingChannel<ConfirmChannel>({
    connection,
    logger: logger.child({ channel: 'publisher' }),
    open: (live) => live.createConfirmChannel(),
    setUp: async (opened) => {
      returned = new Set();
      const returnedHere = returned;
      opened.on('return', (message: Message) => void returnedHere.add(String(message.properties.messageId)));
    },
    ...(options.onReady && { onOpen: options.onReady }),
  });

  /** A returned message means that a queue was deleted. This declares it again without a restart. */
  async function redeclareTopology(): Promise<void> {
    logger.error('A message was returned because no queue is bound to it; declaring the topology again');
    await pause(REDECLARE_PAUSE_MS, stopping.signal);
    if (stopping.signal.aborted || connection.state() !== 'connected') return;
    await ensureTopology(await connection.connected(stopping.signal), logger).catch((error: unknown) =>
      logger.error({ error }, 'Could not declare the topology'),
    );
  }

  return {
    ready: (): boolean => connection.state() === 'connected' && channel.current() !== null,
    async publish(batch: readonly Outgoing[]): Promise<Outcome[]> {
      const live = channel.current();
      const outcomes: Outcome[] =
        live === null
          ? batch.map(() => 'failed')
          : await publishOn(live, batch, returned, (seconds) => latency.observe(seconds));
      for (const outcome of outcomes) published.inc({ outcome });
      if (outcomes.includes('returned')) await redeclareTopology();
      return outcomes;
    },
    close(): Promise<void> {
      stopping.abort();
      return channel.close();
    },
  };
}

/**
 * Each message has its own outcome, so that one refusal does not send the others again. The socket's back-pressure is ignored: the caller
 * bounds the batch, and the next one waits for this one's confirms.
 */
function publishOn(
  channel: ConfirmChannel,
  batch: readonly Outgoing[],
  returned: Set<string>,
  observe: (seconds: number) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = batch.map(() => 'failed');
  const startMs = performance.now();
  return new Promise((resolve) => {
    let waiting = batch.length;
    const timer = setTimeout(() => resolve([...outcomes]), CONFIRM_LIMIT_MS);
    const onConfirm = (index: number, messageId: string, error: unknown): void => {
      if (error === null) {
        outcomes[index] = returned.delete(messageId) ? 'returned' : 'confirmed';
        observe((performance.now() - startMs) / 1000);
      }
      waiting -= 1;
      if (waiting > 0) return;
      clearTimeout(timer);
      resolve([...outcomes]);
    };
    for (const [index, { exchange, routingKey, body, properties }] of batch.entries()) {
      try {
        channel.publish(exchange, routingKey, body, properties, (error) =>
          onConfirm(index, properties.messageId, error ?? null),
        );
      } catch (error) {
        // The channel closed in the middle: neither this message nor the rest of the batch was sent.
        onConfirm(index, properties.messageId, error);
      }
    }
  });
}
