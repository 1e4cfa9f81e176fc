import type { MessageDefinition } from '@quittance/contracts/message.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** A message that was checked, and what it came with. */
export type DecodedMessage = {
  payload: unknown;
  /** UUID, the same on every delivery of one message. */
  messageId: string;
  /** The request that caused the message, so that one search in the logs shows the whole way. */
  requestId: string;
  /** W3C traceparent of what its effect belongs to: the span of its taking, or what it came with. Null where nothing is traced. */
  traceparent: string | null;
};

/** What every handler may use. All that it writes through `tx` commits together with the inbox rows, or not at all. */
export type BatchContext = { tx: Transaction; logger: Logger };

/** What a handler of single messages may use. */
export type HandlerContext = BatchContext & Pick<DecodedMessage, 'messageId' | 'requestId'>;

/** One message, one function, one queue `<service>.<name>`. */
export type Handler = {
  name: string;
  message: MessageDefinition<unknown>;
  /** Most messages that go into one transaction. */
  batchSize: number;
  /** @param heard at least one message, none of which has taken effect before, and none twice. */
  handle: (heard: readonly DecodedMessage[], context: BatchContext) => Promise<void>;
};

/** More of them in one transaction gain little, and every lock is held until the last of them is written. */
const BATCH_SIZE = 200;

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
    batchSize: 1,
    async handle(heard, context) {
      for (const { payload: value, messageId, requestId } of heard) {
        await handle(value as T, { ...context, messageId, requestId });
      }
    },
  };
}

/**
 * Says what to do when messages arrive that are too many for a transaction each. What comes while one batch is in its
 * transaction is the next batch, so a lone message waits for nobody.
 * @param handle as for `on`, with at most 200 messages in the order in which they came. When it throws, its messages are given
 *   to it one by one, so that only the one at fault is tried again or becomes a dead letter.
 *   Write rows in an order of their own, not in that of the messages: another process may be writing the same ones.
 *   `traceparents` has what each message's effect belongs to, in the order of the messages.
 */
export function onBatch<T>(
  message: MessageDefinition<T>,
  name: string,
  handle: (
    messages: readonly T[],
    context: BatchContext & { traceparents: readonly (string | null)[] },
  ) => Promise<void>,
): Handler {
  return {
    name,
    message,
    batchSize: BATCH_SIZE,
    handle: (heard, context) =>
      handle(
        heard.map(({ payload: value }) => value as T),
        { ...context, traceparents: heard.map(({ traceparent }) => traceparent) },
      ),
  };
}

/** Thrown by a handler for a message that no retry can help: it goes straight to `<queue>.dead`. */
export class PermanentError extends Error {
  override name = 'PermanentError';
}
