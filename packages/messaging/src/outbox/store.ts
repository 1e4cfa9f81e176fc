import type { Pool, Queryable } from '@quittance/postgres/pool.ts';

/** A row of the outbox. */
export type OutboxRow = {
  message_id: string;
  name: string;
  version: number;
  merchant_id: string;
  /** Exact JSON text. */
  body: string;
  request_id: string;
  /** W3C traceparent of the span that wrote it; null where nothing is traced. */
  traceparent: string | null;
  created_at: Date;
};

export type NewOutboxRow = Omit<OutboxRow, 'created_at'>;

const columns = ['message_id', 'name', 'version', 'merchant_id', 'body', 'request_id', 'traceparent'] as const;
/** Enough that round trips no longer count, and few enough for any statement timeout. */
const ROWS_PER_STATEMENT = 2_000;

/**
 * Writes messages in this order: each row's time is a microsecond after that of the row before. That is less than writing a row
 * takes, so the next message to be written is later still. A message id that still waits here is the same message: it is not
 * written again.
 */
export async function insertMessages(tx: Queryable, rows: readonly NewOutboxRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const part = rows.slice(start, start + ROWS_PER_STATEMENT);
    await tx.query(
      `with present as materialized (select clock_timestamp() as time)
       insert into outbox (message_id, name, version, merchant_id, body, request_id, traceparent, created_at)
       select message_id, name, version, merchant_id, body, request_id, traceparent, time + position * interval '1 microsecond'
       from present, unnest($1::uuid[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[])
         with ordinality as message(message_id, name, version, merchant_id, body, request_id, traceparent, position)
       order by position
       on conflict (message_id) do nothing`,
      columns.map((name) => part.map((row) => row[name])),
    );
  }
}

/**
 * Claims the oldest rows without a lease, in one statement, for `leaseSeconds`. Rows that another relay is claiming are skipped,
 * so that relays share the work. Never "everything after the last id": that would miss a transaction that commits late.
 * @param claim.writtenWithin claims only rows of the last seconds; null for all. Until vacuum runs, a busy outbox has thousands of
 *   index entries of deleted rows before the first live one, which this condition skips.
 * @returns the rows in the order in which they were written.
 */
export async function claimMessages(
  pool: Pool,
  claim: { relayId: string; leaseSeconds: number; limit: number; writtenWithin: number | null },
): Promise<OutboxRow[]> {
  const { rows } = await pool.query<OutboxRow>(
    `with due as materialized (
       select message_id from outbox
       where claimed_until < now() and created_at > coalesce(now() - make_interval(secs => $4), '-infinity')
       order by created_at limit $3
       for update skip locked
     ), claimed as (
       update outbox set claimed_by = $1, claimed_until = now() + make_interval(secs => $2)
       from due where outbox.message_id = due.message_id
       returning outbox.message_id, name, version, merchant_id, body, request_id, traceparent, created_at
     )
     select * from claimed order by created_at, message_id`,
    [claim.relayId, claim.leaseSeconds, claim.limit, claim.writtenWithin],
  );
  return rows;
}

/** Ends the lease of rows early, except of those that another relay has claimed since. */
export async function releaseMessages(pool: Pool, relayId: string, messageIds: readonly string[]): Promise<void> {
  await pool.query(
    `update outbox set claimed_by = null, claimed_until = '-infinity'
     where message_id = any($1::uuid[]) and claimed_by = $2`,
    [messageIds, relayId],
  );
}

/** Counting stops here, so that it does not slow down a huge backlog further. */
const COUNT_LIMIT = 100_000;

/** @returns how many rows wait (at most 100 000 are counted) and the age of the oldest, 0 when there is none. */
export async function outboxBacklog(pool: Pool): Promise<{ waiting: number; oldestSeconds: number }> {
  const { rows } = await pool.query<{ waiting: number; oldest_seconds: number }>(
    `select (select count(*)::int from (select 1 from outbox limit $1) as counted) as waiting,
            coalesce(extract(epoch from now() - (select min(created_at) from outbox)), 0)::float8 as oldest_seconds`,
    [COUNT_LIMIT],
  );
  const [backlog] = rows;
  return { waiting: backlog?.waiting ?? 0, oldestSeconds: Math.max(0, backlog?.oldest_seconds ?? 0) };
}
