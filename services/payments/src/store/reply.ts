import type { Queryable } from '@quittance/postgres/pool.ts';

/** Makes the partitions of the coming months and drops those that hold only forgotten replies. */
export async function keepReplyPartitions(db: Queryable): Promise<void> {
  await db.query('select keep_reply_partitions()');
}
