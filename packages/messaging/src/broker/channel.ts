import type { Channel, ChannelModel } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import { backoffMs, pause } from '@quittance/runtime/concurrency/backoff.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { ReconnectingConnection } from './connection.ts';

/** A channel that is opened again whenever it, or the connection under it, is lost. */
export type ReconnectingChannel<C extends Channel> = {
  /** Null while there is none. */
  current(): C | null;
  close(): Promise<void>;
};

const REOPEN = { firstMs: 50, maxMs: 5_000 };
const OPEN_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 3_000;

/**
 * Returns at once; the work is done in the background.
 * @param options.open makes a new channel of the connection.
 * @param options.setUp makes it useful (prefetch, consume, listeners) before `current()` shows it.
 * @param options.onOpen is called once `current()` shows it.
 */
export function createReconnectingChannel<C extends Channel>(options: {
  connection: ReconnectingConnection;
  open: (connection: ChannelModel) => Promise<C>;
  setUp: (channel: C) => Promise<void>;
  onOpen?: () => void;
  logger: Logger;
}): ReconnectingChannel<C> {
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  let current: C | null = null;

  /** From the opening of one channel to its end. @returns why it ended, if anybody said so. */
  async function live(opened: () => void): Promise<unknown> {
    const connection = await options.connection.connected(stopping.signal);
    const channel = await withTimeout(OPEN_LIMIT_MS, options.open(connection), 'Opening a channel');
    let reason: unknown;
    channel.on('error', (error) => (reason = error));
    const ended = new Promise<void>((resolve) => channel.on('close', resolve));
    try {
      await withTimeout(OPEN_LIMIT_MS, options.setUp(channel), 'Setting up a channel');
    } catch (error) {
      await closeChannel(channel);
      throw reason ?? error;
    }
    current = channel;
    opened();
    options.onOpen?.();
    await (isStopping() ? closeChannel(channel) : ended);
    return reason;
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!isStopping()) {
      const reason = await live(() => (failures = 0)).catch((error: unknown) => error);
      current = null;
      if (isStopping()) return;
      options.logger.warn({ error: reason }, 'Lost a channel to RabbitMQ, opening it again');
      await pause(backoffMs(failures, REOPEN), stopping.signal);
      failures += 1;
    }
  }

  const running = run();
  return {
    current: () => current,
    async close() {
      stopping.abort();
      if (current !== null) await closeChannel(current);
      await withTimeout(CLOSE_LIMIT_MS, running, 'Closing a channel').catch((error: unknown) =>
        options.logger.warn({ error }, 'A channel to RabbitMQ did not close in time'),
      );
    },
  };
}

/** Messages taken on it and not settled go back to their queue. */
export async function closeChannel(channel: Channel): Promise<void> {
  // It fails when the channel is closed already, which is what was wanted.
  await withTimeout(CLOSE_LIMIT_MS, channel.close(), 'Closing a channel').catch(() => undefined);
}
