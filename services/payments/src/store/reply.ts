import type { Queryable } from '@quittance/postgres/pool.ts';

/**
 * Makes the partitions of the coming months and drops one past its retention, unless a long reader holds a lock on the replies.
 * @returns whether one was dropped: there may be more.
 */
export async function keepReplyPartitions(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ dropped: boolean }>('select keep_reply_partitions() as dropped');
  return rows[0]?.dropped ?? false;
}
