import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';

/**
 * Partitions are made two months ahead, so thousands of these runs may fail before a creation is affected. The interval is not longer
 * because a service that was off for months starts without partitions: if the first run fails, creations fail until the next.
 */
const INTERVAL_MS = 10 * 60 * 1000;

/** Makes the reply partitions of the coming months, and drops those past their retention. */
export function startKeepRepliesLoop(context: LoopContext & { db: Queryable }): Loop {
  return startLoop({
    name: 'keep-replies',
    intervalMs: INTERVAL_MS,
    logger: context.logger,
    metrics: context.metrics,
    run: async () => ({ more: await keepReplyPartitions(context.db) }),
  });
}

/**
 * Makes the partitions of the coming months and drops one past its retention, unless a long reader holds a lock on the replies.
 * @returns whether one was dropped: there may be more.
 */
export async function keepReplyPartitions(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ dropped: boolean }>('select keep_reply_partitions() as dropped');
  return rows[0]?.dropped ?? false;
}
