import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/**
 * A message may wait in its queue, or among the dead letters, for so long and can still be said again after RabbitMQ lost everything:
 * a long weekend. Less than the inbox remembers (7 days), or what is said again could take effect twice.
 */
const RETENTION_DAYS = 4;
const CLEAN_INTERVAL_MS = 60_000;
/** A minute's bites keep up with a thousand messages a second. */
const CLEAN_BATCH_SIZE = 5_000;

/**
 * Takes messages that RabbitMQ has confirmed out of the outbox, whoever holds them by now, and keeps them among the sent ones, from
 * where `replay_messages` (sql/replay_messages.sql) can bring them back.
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

/** Forgets sent messages once they are old, in small bites. Replicas that do it at once skip each other's rows. */
export function startSentCleaning({ pool, logger, metrics }: { pool: Pool; logger: Logger; metrics: Metrics }): Loop {
  return startLoop({
    name: 'sent-messages-cleaning',
    intervalMs: CLEAN_INTERVAL_MS,
    logger,
    metrics,
    run: async () => ({ more: (await forgetOldMessages(pool)) === CLEAN_BATCH_SIZE }),
  });
}

/** @returns how many were forgotten. */
export async function forgetOldMessages(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from sent_message where ctid = any (array(
       select ctid from sent_message where created_at < now() - make_interval(days => $1)
       order by created_at limit $2
       for update skip locked))`,
    [RETENTION_DAYS, CLEAN_BATCH_SIZE],
  );
  return rowCount ?? 0;
}
