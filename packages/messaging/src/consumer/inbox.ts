import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { DecodedMessage } from './handler.ts';

/** The outcome of a message in a transaction that committed. */
export type Effect = 'done' | 'duplicate';

/**
 * Calls `handle` with only the messages that have not taken effect before. Call it first in the transaction.
 * @returns each message with its outcome. Of two copies of one message the first is done.
 */
export async function handleOnce<T extends { message: DecodedMessage }>(
  tx: Transaction,
  handler: string,
  batch: readonly T[],
  handle: (messages: readonly DecodedMessage[]) => Promise<void>,
): Promise<[T, Effect][]> {
  const entered = await enterInbox(
    tx,
    handler,
    batch.map(({ message }) => message.messageId),
  );
  const effects = batch.map((one): [T, Effect] => [one, entered.delete(one.message.messageId) ? 'done' : 'duplicate']);
  const fresh = effects.flatMap(([{ message }, effect]) => (effect === 'done' ? [message] : []));
  if (fresh.length > 0) await handle(fresh);
  return effects;
}

/**
 * Writes the inbox rows. A second delivery at the same time waits here until the first one commits. The rows are written in order, so that
 * two consumers with the same messages do not deadlock.
 * @returns the ids of messages that have not taken effect before.
 */
export async function enterInbox(
  tx: Transaction,
  handler: string,
  messageIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ message_id: string }>(
    `insert into inbox (handler, message_id) select $1, id from unnest($2::uuid[]) as id order by id
     on conflict (handler, message_id) do nothing
     returning message_id`,
    [handler, messageIds],
  );
  return new Set(rows.map((row) => row.message_id));
}

/**
 * A copy of a message follows its original within a lease of the outbox (30 s) or RabbitMQ's acknowledgement timeout (30 min), and waits in
 * the same queue, so a copy is never a week younger than its original. The exception is a message that another queue of its name refuses:
 * it is published again until that queue accepts it. An alert (OutboxStuck) makes sure that this ends within days. A dead letter that is
 * redriven later than that needs no row: it never took effect.
 */
export const inboxRetention = { table: 'inbox', column: 'received_at', days: 7, batchSize: 1_000 };
