import type { Pool } from '@quittance/postgres/pool.ts';

/**
 * How long a message may wait in its queue, or as a dead letter, and can still be replayed after RabbitMQ lost its data: a long weekend. It
 * is shorter than the inbox's memory (7 days), or a replayed message could take effect twice. The batches are repeated within each
 * interval, so that cleaning keeps up with a thousand messages a second.
 */
export const sentMessageRetention = { table: 'sent_message', column: 'created_at', days: 4, batchSize: 5_000 };

/**
 * Moves messages that RabbitMQ has confirmed out of the outbox, even if another relay has claimed them since. `replay_messages`
 * (sql/replay_messages.sql) can move them back.
 */
export async function moveToSent(pool: Pool, messageIds: readonly string[]): Promise<void> {
  await pool.query(
    `with sent as (
       delete from outbox where message_id = any($1::uuid[])
       returning message_id, name, version, merchant_id, body, request_id, created_at
     )
     insert into sent_message (message_id, name, version, merchant_id, body, request_id, created_at)
     select message_id, name, version, merchant_id, body, request_id, created_at from sent`,
    [messageIds],
  );
}
