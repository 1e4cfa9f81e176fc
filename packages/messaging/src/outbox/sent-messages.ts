import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/**
 * How long a message may wait in its queue, or as a dead letter, and can still be replayed after RabbitMQ lost its data: a long
 * weekend. Shorter than the inbox remembers (7 days), or a replayed message could take effect twice.
 */
const RETENTION_DAYS = 4;
const CLEAN_INTERVAL_MS = 60_000;
/** Repeated within each interval, so that it keeps up with a thousand messages a second. */
const CLEAN_BATCH_SIZE = 5_000;

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

/** Deletes old sent messages in small batches. Replicas that do it at once skip each other's rows. */
export function startSentMessageCleaning(context: { pool: Pool; logger: Logger; metrics: Metrics }): Loop {
  const { pool, logger, metrics } = context;
  return startLoop({
    name: 'sent-messages-cleaning',
    intervalMs: CLEAN_INTERVAL_MS,
    logger,
    metrics,
    run: async () => ({ more: (await deleteOldSentMessages(pool)) === CLEAN_BATCH_SIZE }),
  });
}

/** @returns how many were deleted. */
export async function deleteOldSentMessages(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from sent_message where ctid = any (array(
       select ctid from sent_message where created_at < now() - make_interval(days => $1)
       order by created_at limit $2
       for update skip locked))`,
    [RETENTION_DAYS, CLEAN_BATCH_SIZE],
  );
  return rowCount ?? 0;
}
