import type { NoticeChannel } from '@quittance/contracts/http/notifier.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Content } from './text.ts';

/** The most notices of one merchant and channel in any hour. Later ones wait. */
export const NOTICES_PER_HOUR = 120;
/** A notice that would wait for longer is not accepted, so that this times the limit an hour is the longest queue. */
const LONGEST_WAIT_HOURS = 24;
/** How long ended notices are kept: longer than an event can be sent again. */
const KEPT_DAYS = 90;
const DELETED_AT_ONCE = 1_000;
/** Longer than an attempt takes. */
const LEASE_SECONDS = 60;

/** The merchant's queue is full, so that its events must be sent again later. */
export class QueueFull extends Error {
  constructor(merchantId: string) {
    super(`the queue of ${merchantId} is full`);
    this.name = 'QueueFull';
  }
}

/**
 * Stores one event for each of the merchant's channels. An event that is stored already changes nothing.
 * @throws QueueFull, without storing it for any channel.
 */
export async function insertNotices(
  pool: Pool,
  {
    merchantId,
    eventId,
    channels,
    content,
  }: {
    merchantId: string;
    eventId: string;
    channels: readonly NoticeChannel[];
    content: Content;
  },
): Promise<void> {
  await transaction(pool, async (tx) => {
    // One event of a merchant at a time, so that each sees the times of those before it.
    await tx.query('select from merchant where merchant_id = $1 for update', [merchantId]);
    const { rows } = await tx.query<{ is_too_late: boolean }>(
      `insert into notice (merchant_id, event_id, channel, content, due_at, next_attempt_at)
       select $1, $2, channel, $4, due_at, due_at
         from unnest($3::text[]) as channel
        cross join lateral (
              select greatest(now(), (select n.due_at + interval '1 hour' from notice n
                                       where n.merchant_id = $1 and n.channel = channel
                                       order by n.due_at desc offset $5 - 1 limit 1)) as due_at) paced
       on conflict do nothing
       returning due_at > now() + make_interval(hours => $6) as is_too_late`,
      [merchantId, eventId, channels, JSON.stringify(content), NOTICES_PER_HOUR, LONGEST_WAIT_HOURS],
    );
    if (rows.some((row) => row.is_too_late)) throw new QueueFull(merchantId);
  });
}

export type ClaimedNotice = {
  merchant_id: string;
  event_id: string;
  content: Content;
  attempts: number;
  /** Since it was due. */
  age_seconds: number;
};

/**
 * Takes due notices of a channel for a minute, one of each merchant, the longest due first.
 * @param busy merchants that are left out.
 */
export async function claimNotices(
  db: Queryable,
  { channel, busy, limit }: { channel: NoticeChannel; busy: readonly string[]; limit: number },
): Promise<ClaimedNotice[]> {
  const { rows } = await db.query<ClaimedNotice>(
    `with due as (
       select merchant_id, min(next_attempt_at) as since from notice
        where state = 'waiting' and channel = $1 and next_attempt_at <= now() and merchant_id <> all($2)
        group by merchant_id order by since limit $3),
     claimed as (
       select n.merchant_id, n.event_id from due cross join lateral (
         select merchant_id, event_id from notice
          where state = 'waiting' and channel = $1 and merchant_id = due.merchant_id and next_attempt_at <= now()
          order by next_attempt_at, event_id limit 1 for update skip locked) n)
     update notice n set next_attempt_at = now() + make_interval(secs => $4)
       from claimed c
      where n.merchant_id = c.merchant_id and n.event_id = c.event_id and n.channel = $1
     returning n.merchant_id, n.event_id, n.content, n.attempts,
               extract(epoch from now() - n.due_at)::float8 as age_seconds`,
    [channel, busy, limit, LEASE_SECONDS],
  );
  return rows;
}

type Key = Pick<ClaimedNotice, 'merchant_id' | 'event_id'> & { channel: NoticeChannel };

/** Ends a notice, sent or failed. Its content is no longer needed. */
export async function endNotice(db: Queryable, { merchant_id, event_id, channel }: Key, problem: string | null) {
  await db.query(
    `update notice set state = $4, problem = $5, content = null, ended_at = now(), attempts = attempts + 1
      where merchant_id = $1 and event_id = $2 and channel = $3 and state = 'waiting'`,
    [merchant_id, event_id, channel, problem === null ? 'sent' : 'failed', problem],
  );
}

export async function delayNotice(
  db: Queryable,
  { merchant_id, event_id, channel }: Key,
  { problem, delayMs }: { problem: string; delayMs: number },
) {
  await db.query(
    `update notice set attempts = attempts + 1, problem = $4, next_attempt_at = now() + make_interval(secs => $5)
      where merchant_id = $1 and event_id = $2 and channel = $3 and state = 'waiting'`,
    [merchant_id, event_id, channel, problem, delayMs / 1000],
  );
}

/** The waiting notices, by channel. `overdue_seconds` is the age of the one that is due the longest, or 0. */
export async function measureNotices(db: Queryable) {
  const { rows } = await db.query<{ channel: NoticeChannel; waiting: number; overdue_seconds: number }>(
    `select channel, count(*)::int as waiting,
            greatest(0, extract(epoch from now() - min(due_at)))::float8 as overdue_seconds
       from notice where state = 'waiting' group by channel`,
  );
  return rows;
}

/** @returns whether there are more old ones. */
export async function deleteOldNotices(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from notice where ctid = any (array(
       select ctid from notice where state <> 'waiting' and ended_at < now() - make_interval(days => $1)
       limit $2 for update skip locked))`,
    [KEPT_DAYS, DELETED_AT_ONCE],
  );
  return rowCount === DELETED_AT_ONCE;
}

/** How one merchant's channels are doing. */
export async function readChannels(db: Queryable, merchantId: string, channels: readonly NoticeChannel[]) {
  const { rows } = await db.query<{
    channel: NoticeChannel;
    waiting: number;
    failed_at: Date | null;
    problem: string | null;
  }>(
    `select channel, (select count(*)::int from notice n
                       where n.merchant_id = $1 and n.channel = c.channel and n.state = 'waiting') as waiting,
            failed.ended_at as failed_at, failed.problem
       from unnest($2::text[]) with ordinality as c (channel, position)
       left join lateral (select ended_at, problem from notice n
                           where n.merchant_id = $1 and n.channel = c.channel and n.state = 'failed'
                           order by ended_at desc limit 1) failed on true
      order by position`,
    [merchantId, channels],
  );
  return rows;
}
