import type { Channel, ChannelModel } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import { backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { ReconnectingConnection } from './connection.ts';

const REOPEN = { firstMs: 50, maxMs: 5_000 };
const OPEN_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 3_000;

/**
 * A channel that is opened again whenever it, or its connection, is lost. Returns immediately; opens it in the background.
 * @param options.setUp prepares the channel (prefetch, consume, listeners) before `current()` returns it.
 * @param options.onOpen is called once `current()` returns it.
 */
export function createReconnectingChannel<C extends Channel>(options: {
  connection: ReconnectingConnection;
  open: (connection: ChannelModel) => Promise<C>;
  setUp: (channel: C) => Promise<void>;
  onOpen?: () => void;
  logger: Logger;
}) {
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  let current: C | null = null;

  /** One channel, from its opening to its close. @returns the error that closed it, if there was one. */
  async function openUntilClosed(onOpened: () => void): Promise<unknown> {
    const connection = await options.connection.connected(stopping.signal);
    const channel = await withTimeout(OPEN_LIMIT_MS, options.open(connection), 'Opening a channel');
    let reason: unknown;
    channel.on('error', (error) => (reason = error));
    const closed = new Promise<void>((resolve) => channel.on('close', resolve));
    try {
      await withTimeout(OPEN_LIMIT_MS, options.setUp(channel), 'Setting up a channel');
    } catch (error) {
      await closeChannel(channel);
      throw reason ?? error;
    }
    current = channel;
    onOpened();
    options.onOpen?.();
    await (isStopping() ? closeChannel(channel) : closed);
    return reason;
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!isStopping()) {
      const error = await openUntilClosed(() => (failures = 0)).catch((reason: unknown) => reason);
      current = null;
      if (isStopping()) return;
      options.logger.warn({ error }, 'A channel to RabbitMQ closed; opening it again');
      await pause(backoffMs(failures, REOPEN), stopping.signal);
      failures += 1;
    }
  }

  const running = run();
  return {
    /** Null when none is open. */
    current: () => current,
    async close(): Promise<void> {
      stopping.abort();
      if (current !== null) await closeChannel(current);
      await withTimeout(CLOSE_LIMIT_MS, running, 'Closing a channel').catch((error: unknown) =>
        options.logger.warn({ error }, 'A channel to RabbitMQ did not close in time'),
      );
    },
  };
}

/** Its unacknowledged messages return to their queue. */
export async function closeChannel(channel: Channel): Promise<void> {
  // It fails when the channel is already closed, which is fine.
  await withTimeout(CLOSE_LIMIT_MS, channel.close(), 'Closing a channel').catch(() => undefined);
}
