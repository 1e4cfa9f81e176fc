import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/**
 * Notes that this handler takes this message. First statement of the transaction that also holds the effect: a second
 * delivery at the same moment waits here for the first one's commit.
 * @returns false when the message has taken effect before.
 */
export async function enterInbox(tx: Transaction, handler: string, messageId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'insert into inbox (handler, message_id) values ($1, $2) on conflict (handler, message_id) do nothing',
    [handler, messageId],
  );
  return rowCount === 1;
}

/**
 * A copy of a message follows its original by a lease of the outbox (30 s) or by RabbitMQ's acknowledgement time limit
 * (30 min), and waits in the same queue, so a copy a week younger than its original does not happen.
 * A dead letter that is redriven later than that needs no row: it never took effect.
 */
const RETENTION_DAYS = 7;
const CLEAN_INTERVAL_MS = 600_000;
const CLEAN_BATCH_SIZE = 1_000;

/** Deletes old rows in small bites, so that it never holds many locks. Replicas that do it at once skip each other's. */
export function startInboxCleaning({ pool, logger, metrics }: { pool: Pool; logger: Logger; metrics: Metrics }): Loop {
  return startLoop({
    name: 'inbox-cleaning',
    intervalMs: CLEAN_INTERVAL_MS,
    logger,
    metrics,
    run: async () => ({ more: (await deleteOldRows(pool)) === CLEAN_BATCH_SIZE }),
  });
}

/** @returns how many rows were deleted. */
export async function deleteOldRows(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `with old as materialized (
       select handler, message_id from inbox where received_at < now() - make_interval(days => $1)
       order by received_at limit $2
       for update skip locked
     )
     delete from inbox using old where inbox.handler = old.handler and inbox.message_id = old.message_id`,
    [RETENTION_DAYS, CLEAN_BATCH_SIZE],
  );
  return rowCount ?? 0;
}
