import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { type Logger, currentRequestId } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { currentSpan } from '@quittance/runtime/tracing/tracing.ts';
import type { Signer } from '@quittance/runtime/trust.ts';
import type { Broker } from '../broker/broker.ts';
import { newMessageId } from '../broker/amqp-message.ts';
import { insertMessages, type NewOutboxRow } from './store.ts';
import { startRelay } from './relay.ts';

/** How every message leaves a service: a row written in the transaction of its change, published by the relay after the commit. */
export type Outbox = {
  /**
   * Writes the message in the caller's transaction, and wakes the relay once that commits.
   * @param options.messageId a UUID, for a message that must have the same id each time it is written: receivers process each id once, even
   *   if it is sent again much later.
   * @throws InvalidMessage when the payload breaks the message's schema; failing here is better than at every receiver.
   */
  send<T extends object>(
    tx: Transaction,
    message: MessageDefinition<T>,
    payload: T,
    options?: { messageId?: string },
  ): Promise<void>;
  /**
   * Like `send`, for many messages in this order.
   * @param messages.requestId and `traceparent` if the message belongs to a request other than the current one.
   */
  sendAll<T extends object>(
    tx: Transaction,
    message: MessageDefinition<T>,
    messages: readonly ({ payload: T } & ComposeOptions)[],
  ): Promise<void>;
  /** Finishes the batch in flight (about 20 s at worst) and stops. */
  close(): Promise<void>;
};

/** The request and the span that a message belongs to. */
export type MessageOrigin = { requestId?: string | undefined; traceparent?: string | undefined };

export const currentOrigin = (): MessageOrigin => ({
  requestId: currentRequestId(),
  traceparent: currentSpan()?.traceparent,
});

type ComposeOptions = MessageOrigin & { messageId?: string };

/**
 * Starts the relay too; every replica has one, and they share the rows.
 * @param options.signer signs published messages; null in a process without a key.
 * @param options.pollMs default 1000. `send` wakes the relay immediately, so polls only find rows whose process died before it could
 *   publish them.
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
  const sendAll: Outbox['sendAll'] = async (tx, message, messages) => {
    if (messages.length === 0) return;
    const rows = messages.map(({ payload, ...options }) => composeMessage(message, payload, options));
    await insertMessages(tx, rows);
    tx.afterCommit(() => relay.wake(message.name));
  };
  return {
    send: (tx, message, payload, options) => sendAll(tx, message, [{ payload, ...options }]),
    sendAll,
    close: () => relay.close(),
  };
}

/** Empty for a message that is about no merchant. */
const merchantOf = (payload: { merchant_id?: string }): string => payload.merchant_id ?? '';

/** The row of a message. @throws InvalidMessage when the payload breaks the message's schema. */
export function composeMessage<T extends object>(
  message: MessageDefinition<T>,
  payload: T,
  { messageId = newMessageId(), ...origin }: ComposeOptions = {},
): NewOutboxRow {
  message.parse(payload);
  const current = currentOrigin();
  return {
    message_id: messageId,
    name: message.name,
    version: message.version,
    merchant_id: merchantOf(payload),
    body: JSON.stringify(payload),
    // A message that no request caused counts as a separate request.
    request_id: origin.requestId ?? current.requestId ?? messageId,
    traceparent: origin.traceparent ?? current.traceparent ?? null,
  };
}
