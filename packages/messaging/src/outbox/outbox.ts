import type { MessageDefinition } from '@quittance/contracts/message.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { type Logger, currentRequestId } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { currentSpan } from '@quittance/runtime/tracing/tracing.ts';
import type { Broker } from '../broker/broker.ts';
import { newMessageId } from '../broker/message-id.ts';
import { insertMessage, insertMessages, type NewOutboxRow } from './store.ts';
import { startRelay } from './relay.ts';

/** The way every message leaves a service: a row written with the change it tells of, sent by the relay after the commit. */
export type Outbox = {
  /**
   * Writes the message into the caller's transaction; the relay is woken once that commits.
   * @param options.messageId a UUID, where the caller wants the same message to have the same id each time it is said:
   *   receivers take each id once, even if it is sent again much later.
   * @throws InvalidMessage when the payload breaks the message's schema; better here than in front of every receiver.
   */
  send<T extends { merchant_id: string }>(
    tx: Transaction,
    message: MessageDefinition<T>,
    payload: T,
    options?: { messageId?: string },
  ): Promise<void>;
  /**
   * As `send`, for many messages at once. They lie in the outbox in this order, as if each had been sent after the one before.
   * @param said.traceparent of what the message is said in, where that is not the span of the work under way.
   */
  sendAll<T extends { merchant_id: string }>(
    tx: Transaction,
    message: MessageDefinition<T>,
    said: readonly ({ payload: T } & ComposeOptions)[],
  ): Promise<void>;
  /**
   * As `send`, for a statement that writes the row itself, together with what it tells of; whoever runs it calls `wake` once it is
   * committed.
   */
  compose<T extends { merchant_id: string }>(
    message: MessageDefinition<T>,
    payload: T,
    options?: ComposeOptions,
  ): NewOutboxRow;
  /** Has the relay look now instead of at its next poll. */
  wake(): void;
  /** Finishes the batch in flight (about 20 s at worst) and stops. */
  close(): Promise<void>;
};

type ComposeOptions = { messageId?: string; traceparent?: string | undefined };

/**
 * Starts the relay too; every replica has one, and they share the rows.
 * @param options.pollMs how often the relay looks on its own (default 1000). `send` wakes it at once, so this only
 *   matters for rows whose process died before it could send them.
 */
export function createOutbox(options: {
  pool: Pool;
  broker: Broker;
  logger: Logger;
  metrics: Metrics;
  pollMs?: number;
}): Outbox {
  const relay = startRelay({ ...options, pollMs: options.pollMs ?? 1_000 });
  const compose: Outbox['compose'] = (message, payload, { messageId = newMessageId(), traceparent } = {}) => {
    message.parse(payload);
    return {
      message_id: messageId,
      name: message.name,
      version: message.version,
      merchant_id: payload.merchant_id,
      body: JSON.stringify(payload),
      // A message that no request caused starts a story of its own.
      request_id: currentRequestId() ?? messageId,
      traceparent: traceparent ?? currentSpan()?.traceparent ?? null,
    };
  };
  return {
    async send(tx, message, payload, options) {
      await insertMessage(tx, compose(message, payload, options));
      tx.afterCommit(() => relay.wake());
    },
    async sendAll(tx, message, said) {
      if (said.length === 0) return;
      await insertMessages(
        tx,
        said.map(({ payload, ...options }) => compose(message, payload, options)),
      );
      tx.afterCommit(() => relay.wake());
    },
    compose,
    wake: () => relay.wake(),
    close: () => relay.close(),
  };
}
