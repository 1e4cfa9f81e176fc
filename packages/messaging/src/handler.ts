import type { MessageDefinition } from '@quittance/contracts/message.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** What a handler may use. Everything it writes through `tx` commits together with the inbox row, or not at all. */
export type HandlerContext = {
  tx: Transaction;
  /** UUID, the same on every delivery of one message. */
  messageId: string;
  /** The request that caused the message, so that one search in the logs shows the whole way. */
  requestId: string;
  logger: Logger;
};

/** One message, one function, one queue `<service>.<name>`. */
export type Handler = {
  name: string;
  message: MessageDefinition<unknown>;
  handle: (message: unknown, context: HandlerContext) => Promise<void>;
};

/**
 * Says what to do when a message arrives.
 * @param name of the handler in the topology, e.g. 'payment-created'; with the service it names the queue.
 * @param handle takes effect through `context.tx` only, and makes no network call: the transaction is open while it runs.
 *   Throwing rolls everything back: a database that can't be reached is waited for, a PermanentError goes straight to the
 *   dead letters, anything else is tried again up to the delivery limit.
 */
export function on<T>(
  message: MessageDefinition<T>,
  name: string,
  handle: (message: T, context: HandlerContext) => Promise<void>,
): Handler {
  return {
    name,
    message,
    handle: (value, context) => handle(value as T, context),
  };
}

/** Thrown by a handler for a message that no retry can help: it goes straight to `<queue>.dead`. */
export class PermanentError extends Error {
  override name = 'PermanentError';
}
