import { longStatement } from '@quittance/postgres/long-statement.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';

/** A row of the outbox. */
export type OutboxRow = {
  message_id: string;
  name: string;
  version: number;
  merchant_id: string;
  /** Exact JSON text. */
  body: string;
  request_id: string;
  /** W3C traceparent of the span that wrote it; null when nothing is traced. */
  traceparent: string | null;
  created_at: Date;
};

export type NewOutboxRow = Omit<OutboxRow, 'created_at'>;

const columns = ['message_id', 'name', 'version', 'merchant_id', 'body', 'request_id', 'traceparent'] as const;
/** Enough that round trips no longer matter, and few enough for any statement timeout. */
const ROWS_PER_STATEMENT = 2_000;

/**
 * Writes messages in this order: each row's time is a microsecond after that of the row before. Writing a row takes longer than that, so
 * the next message written is still later. A message id that is still in the outbox is the same message: it is not written again.
 */
export async function insertMessages(tx: Queryable, rows: readonly NewOutboxRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const part = rows.slice(start, start + ROWS_PER_STATEMENT);
    await tx.query(
      `with present as materialized (select clock_timestamp() as time)
       insert into outbox (message_id, name, version, merchant_id, body, request_id, traceparent, created_at, not_before)
       select message_id, name, version, merchant_id, body, request_id, traceparent, written_at, written_at
       from present, unnest($1::uuid[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[])
         with ordinality as message(message_id, name, version, merchant_id, body, request_id, traceparent, position),
         lateral (select time + position * interval '1 microsecond' as written_at) as row
       order by position
       on conflict (message_id) do nothing`,
      columns.map((name) => part.map((row) => row[name])),
    );
  }
}

/**
 * Every row of a name that its claims may find has a not_before at or after this time, as text with microseconds. Deleted rows stay in the
 * table and its indexes until vacuum may remove them, and a session that reads for hours prevents that. Claims that begin at the bound do
 * not read them.
 */
export type Bound = { name: string; since: string };

/** A transaction may commit rows this long after the time it wrote into them; `boundsOfAll` finds those of longer transactions. */
const LATE_SECONDS = 30;
/** A claim reads this much of the outbox's time, so that its cost does not depend on what was sent before. */
const WINDOW_SECONDS = 2 * LATE_SECONDS;

/**
 * Moves bounds forward: to the oldest row of the name, or to the end of the window if it is empty, but not beyond rows that may still be
 * committed.
 * @param bounds.since null for a name that is new here.
 * @returns `isWaiting`: a row of the window is due, or claimed. `isBehind`: rows may be waiting that are older than those that may still be
 *   committed.
 */
export async function advanceBounds(
  pool: Pool,
  bounds: readonly { name: string; since: string | null }[],
): Promise<(Bound & { isWaiting: boolean; isBehind: boolean })[]> {
  const { rows } = await pool.query<Bound & { isWaiting: boolean; isBehind: boolean }>(
    `with bound as (
       select name, coalesce(since, late) as since, late
         from unnest($1::text[], $2::timestamptz[]) as given(name, since), (select now() - make_interval(secs => $3) as late) as times
     ), found as (
       select bound.*, oldest, coalesce(oldest, bound.since + make_interval(secs => $4)) as next
         from bound left join lateral (
           select not_before as oldest from outbox
            where outbox.name = bound.name and not_before between bound.since and bound.since + make_interval(secs => $4)
            order by not_before limit 1) as row on true
     )
     select name, least(late, next)::text as since, coalesce(oldest <= now(), false) as "isWaiting", next < late as "isBehind" from found`,
    [bounds.map(({ name }) => name), bounds.map(({ since }) => since), LATE_SECONDS, WINDOW_SECONDS],
  );
  return rows;
}

/** Reading the whole table takes longer the more dead rows there are. */
const WHOLE_TABLE_MS = 300_000;

/**
 * Reads the whole outbox for rows before these bounds, or of names without one: rows of a process that has ended, and of a transaction that
 * took very long.
 * @returns the bounds that such rows need.
 */
export async function boundsOfAll(
  pool: Pool,
  bounds: readonly { name: string; since: string | null }[],
): Promise<Bound[]> {
  return transaction(pool, async (tx) => {
    const { rows } = await longStatement<Bound>(tx, WHOLE_TABLE_MS, {
      text: `select name, min(not_before)::text as since
               from outbox left join unnest($1::text[], $2::timestamptz[]) as bound(name, since) using (name)
              where not_before < coalesce(bound.since, 'infinity') group by name`,
      values: [bounds.map(({ name }) => name), bounds.map(({ since }) => since)],
    });
    return rows;
  });
}

/**
 * Claims the oldest due rows of a name without a lease, in one statement, for `leaseSeconds`. Rows that another relay is claiming
 * are skipped, so that relays share the work.
 * @param claim.since the name's bound; the claim reads one window from there.
 * @param claim.writtenWithin claims only rows that became due in the last seconds; null for the whole window.
 * @returns the rows in the order in which they were written.
 */
export async function claimMessages(
  pool: Pool,
  claim: {
    name: string;
    since: string | null;
    relayId: string;
    leaseSeconds: number;
    limit: number;
    writtenWithin: number | null;
  },
): Promise<OutboxRow[]> {
  const { rows } = await pool.query<OutboxRow>(
    `with due as materialized (
       select ctid from outbox
       where name = $1 and claimed_until < now()
         and not_before >= greatest($2::timestamptz, now() - make_interval(secs => $3::float8))
         and not_before <= case when $3::float8 is null then least(now(), $2::timestamptz + make_interval(secs => $4)) else now() end
       order by not_before limit $5
       for update skip locked
     ), claimed as (
       update outbox set claimed_by = $6, claimed_until = now() + make_interval(secs => $7)
       -- By ctid, which is safe because the rows are locked: a plan made while the table looked empty would scan a whole index for their ids.
       where ctid = any (array(select ctid from due))
       returning message_id, name, version, merchant_id, body, request_id, traceparent, created_at
     )
     -- A claim that is lost in a crash of the server is repeated, so its commit does not wait for the disk.
     select * from claimed where set_config('synchronous_commit', 'off', true) is not null order by created_at, message_id`,
    [claim.name, claim.since, claim.writtenWithin, WINDOW_SECONDS, claim.limit, claim.relayId, claim.leaseSeconds],
  );
  return rows;
}

/** A message waits at most the longest pause once its queue accepts it again. */
const REFUSAL_PAUSE = { firstSeconds: 1, maxSeconds: 60 };

/**
 * Ends the lease of rows that RabbitMQ did not confirm, except of those that another relay has claimed since. Each is due again after a
 * pause that doubles with its refusals, minus a random part of up to half of it.
 */
export async function pauseMessages(pool: Pool, relayId: string, messageIds: readonly string[]): Promise<void> {
  await pool.query(
    `update outbox set claimed_by = null, claimed_until = '-infinity', refusals = refusals + 1,
       not_before = now() + make_interval(secs => least($4, $3 * 2 ^ least(refusals, 20)) * (0.5 + random() / 2))
     where message_id = any($1::uuid[]) and claimed_by = $2`,
    [messageIds, relayId, REFUSAL_PAUSE.firstSeconds, REFUSAL_PAUSE.maxSeconds],
  );
}

/** Counting stops here, so that it does not slow down a huge backlog further. */
const COUNT_LIMIT = 100_000;

/** @returns how many rows wait (at most 100 000 of a name are counted) and the age of the oldest, 0 when there is none. */
export async function outboxBacklog(
  pool: Pool,
  bounds: readonly Bound[],
): Promise<{ waiting: number; oldestSeconds: number }> {
  const { rows } = await pool.query<{ waiting: number; oldest_seconds: number }>(
    `select coalesce(sum(waiting), 0)::int as waiting,
            coalesce(extract(epoch from now() - min(oldest)), 0)::float8 as oldest_seconds
       from unnest($1::text[], $2::timestamptz[]) as bound(name, since),
            lateral (select count(*) as waiting, min(created_at) as oldest
                       from (select created_at from outbox where outbox.name = bound.name and not_before >= bound.since
                              order by not_before limit $3) as counted) as backlog`,
    [bounds.map(({ name }) => name), bounds.map(({ since }) => since), COUNT_LIMIT],
  );
  const [backlog] = rows;
  return { waiting: backlog?.waiting ?? 0, oldestSeconds: Math.max(0, backlog?.oldest_seconds ?? 0) };
}

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
