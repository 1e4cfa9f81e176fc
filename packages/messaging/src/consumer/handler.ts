import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** A delivery whose properties and body were checked. */
export type DecodedMessage = {
  payload: unknown;
  /** UUID, the same on every delivery of one message. */
  messageId: string;
  /** The request that caused the message, so that one search in the logs shows its whole path. */
  requestId: string;
  /** W3C traceparent of the span that processes it, or else of its sender. Null when nothing is traced. */
  traceparent: string | null;
};

/** What every handler may use. Everything it writes through `tx` commits together with the inbox rows, or not at all. */
export type BatchContext = { tx: Transaction; logger: Logger };

/** What a handler of single messages may use. */
export type HandlerContext = BatchContext & Pick<DecodedMessage, 'messageId' | 'requestId'>;

/** One message, one function, one queue `<service>.<name>`. */
export type Handler = {
  name: string;
  message: MessageDefinition<unknown>;
  /** The maximum number of messages in one transaction. */
  batchSize: number;
  /** @param messages at least one; none has taken effect before, and each occurs once. */
  handle: (messages: readonly DecodedMessage[], context: BatchContext) => Promise<void>;
};

/** Larger batches gain little, and every lock is held until the last message is written. */
const BATCH_SIZE = 200;

/**
 * Declares what happens when a message arrives.
 * @param name of the handler in the topology, e.g. 'payment-created'; with the service it names the queue.
 * @param handle takes effect only through `context.tx`, and makes no network call: the transaction is open while it runs. Throwing rolls
 *   everything back. An unavailable database counts as no attempt. A PermanentError makes a dead letter
 *   immediately, and so does a value that the database cannot store. Any other error is retried up to the delivery limit.
 */
export function on<T>(
  message: MessageDefinition<T>,
  name: string,
  handle: (payload: T, context: HandlerContext) => Promise<void>,
): Handler {
  return {
    name,
    message,
    batchSize: 1,
    async handle(messages, context) {
      for (const { payload, messageId, requestId } of messages) {
        await handle(payload as T, { ...context, messageId, requestId });
      }
    },
  };
}

/**
 * Declares what happens when messages arrive that are too many for one transaction each. Messages that arrive while one batch is in its
 * transaction form the next one, so a lone message does not wait. The message's `spacingMs` sets the minimum time between batches.
 * @param handle as for `on`, with at most 200 payloads in the order of arrival. When it throws, its messages are handled again one by one,
 *   so that only the failing one is retried or becomes a dead letter. Write rows in a fixed order, not in that of the messages: another
 *   process may be writing the same ones. Try a lock that others may hold for long, do not wait for it: see Busy. `traceparents` has the
 *   span of each message, in the order of the payloads.
 */
export function onBatch<T>(
  message: MessageDefinition<T>,
  name: string,
  handle: (
    payloads: readonly T[],
    context: BatchContext & { traceparents: readonly (string | null)[] },
  ) => Promise<void>,
): Handler {
  return {
    name,
    message,
    batchSize: BATCH_SIZE,
    handle: (messages, context) =>
      handle(
        messages.map(({ payload }) => payload as T),
        { ...context, traceparents: messages.map(({ traceparent }) => traceparent) },
      ),
  };
}

/** Thrown by a handler for a message that no retry can help: it is sent straight to `<queue>.dead`. */
export class PermanentError extends Error {
  override name = 'PermanentError';
}

/**
 * Thrown by a handler that would have to wait for a lock: nothing of its batch takes effect. The messages named here are handled again
 * after a pause, which holds no connection and counts as no attempt; the others are handled immediately.
 */
export class Busy extends Error {
  override name = 'Busy';
  readonly payloads: readonly unknown[];
  /** @param payloads at least one of those passed to the handler. */
  constructor(payloads: readonly unknown[]) {
    super(`${payloads.length} messages are waiting for a lock`);
    this.payloads = payloads;
  }
}
