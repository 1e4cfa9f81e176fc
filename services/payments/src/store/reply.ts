import type { Queryable } from '@quittance/postgres/pool.ts';

/** The 201 that was once answered to an Idempotency-Key. */
export type SavedReply = {
  /** SHA-256 of the validated request it answered. */
  fingerprint: Buffer;
  /** The exact bytes of the body. */
  body: Buffer;
};

/** The columns of a reply under the alias `r`, named apart from those of whatever it is joined with. */
export const replyColumns = 'r.fingerprint as reply_fingerprint, r.body as reply_body';

export type ReplyColumns = { reply_fingerprint: Buffer | null; reply_body: Buffer | null };

/** @returns null for the row of nulls that a left join gives. */
export function toReply(row: ReplyColumns): SavedReply | null {
  if (row.reply_fingerprint === null || row.reply_body === null) return null;
  return { fingerprint: row.reply_fingerprint, body: row.reply_body };
}

/** Makes the partitions of the coming months and drops those that hold only forgotten replies. */
export async function keepReplyPartitions(db: Queryable): Promise<void> {
  await db.query('select keep_reply_partitions()');
}
