import type { MessageDefinition } from '@quittance/contracts/message.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { type Logger, currentRequestId } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { currentSpan } from '@quittance/runtime/tracing/tracing.ts';
import type { Signer } from '@quittance/runtime/trust.ts';
import type { Broker } from '../broker/broker.ts';
import { newMessageId } from '../broker/message-id.ts';
import { insertMessages, type NewOutboxRow } from './store.ts';
import { startRelay } from './relay.ts';

/** How every message leaves a service: a row written in the transaction of its change, published by the relay after the commit. */
export type Outbox = {
  /**
   * Writes the message in the caller's transaction, and wakes the relay once that commits.
   * @param options.messageId a UUID, for a message that must have the same id each time it is written: receivers process each id
   *   once, even if it is sent again much later.
   * @throws InvalidMessage when the payload breaks the message's schema; better here than at every receiver.
   */
  send<T extends { merchant_id: string }>(
    tx: Transaction,
    message: MessageDefinition<T>,
    payload: T,
    options?: { messageId?: string },
  ): Promise<void>;
  /**
   * As `send`, for many messages in this order.
   * @param messages.traceparent of the span that the message belongs to, where that is not the current one.
   */
  sendAll<T extends { merchant_id: string }>(
    tx: Transaction,
    message: MessageDefinition<T>,
    messages: readonly ({ payload: T } & ComposeOptions)[],
  ): Promise<void>;
  /**
   * As `send`, for a statement that writes the row itself, together with the change; the caller calls `wake` after the commit.
   */
  compose<T extends { merchant_id: string }>(
    message: MessageDefinition<T>,
    payload: T,
    options?: ComposeOptions,
  ): NewOutboxRow;
  /** Publishes the messages of this name now instead of at the relay's next poll. */
  wake(message: { name: string }): void;
  /** Finishes the batch in flight (about 20 s at worst) and stops. */
  close(): Promise<void>;
};

type ComposeOptions = { messageId?: string; traceparent?: string | undefined };

/**
 * Starts the relay too; every replica has one, and they share the rows.
 * @param options.signer signs what is published; null in a process without a key.
 * @param options.pollMs default 1000. `send` wakes the relay at once, so polls only find rows whose process died before it
 *   could publish them.
 */
export function createOutbox(options: {
  pool: Pool;
  broker: Broker;
  signer: Signer | null;
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
      // A message that no request caused counts as a separate request.
      request_id: currentRequestId() ?? messageId,
      traceparent: traceparent ?? currentSpan()?.traceparent ?? null,
    };
  };
  const sendAll: Outbox['sendAll'] = async (tx, message, messages) => {
    if (messages.length === 0) return;
    const rows = messages.map(({ payload, ...options }) => compose(message, payload, options));
    const handOver = relay.offer(message.name, rows.length);
    const written = await insertMessages(tx, rows, handOver?.lease);
    tx.afterCommit(() => (handOver === null ? relay.wake(message.name) : handOver.publish(written)));
  };
  return {
    send: (tx, message, payload, options) => sendAll(tx, message, [{ payload, ...options }]),
    sendAll,
    compose,
    wake: (message) => relay.wake(message.name),
    close: () => relay.close(),
  };
}
