import type { Queryable } from '@quittance/postgres/pool.ts';

/** How many requests a counter admits in a window that starts with its first request. */
export type RateLimit = { readonly scope: string; readonly limit: number; readonly windowSeconds: number };

/** A counter's value for one request. */
export type Count = {
  /** Requests in this window so far, including this one. */
  count: number;
  /** Whole seconds until the window ends, at least 1. */
  secondsLeft: number;
};

/** A counter's row after requests were added to it. */
export type CountRow = { count: number; seconds_left: number };

/**
 * Adds requests to the window of (scope, subject), and starts a new window when the old one is over.
 * The row lock makes it exact for any number of replicas. The clock is read once, after the lock is held: read twice, the end
 * of a window could fall between the two. A request over the limit counts as well, but nothing moves the end of a window.
 * A statement that locks several rows locks them in the order of (scope, subject), so that two cannot deadlock.
 */
export const addToWindow = `
  on conflict (scope, subject) do update set (started_at, ends_at, count) = (
    select case when w.ends_at <= t.now then t.now else w.started_at end,
           case when w.ends_at <= t.now then t.now + (excluded.ends_at - excluded.started_at) else w.ends_at end,
           case when w.ends_at <= t.now then excluded.count else w.count + excluded.count end
    from (select clock_timestamp() as now) t
  )
  returning scope, subject, count,
            greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as seconds_left`;

/** Requests for one counter that belongs to no merchant. */
export type CountedSubject = {
  scope: string;
  /** What is counted, e.g. the hex SHA-256 of a public token; never a secret in clear. */
  subject: string;
  windowSeconds: number;
  requests: number;
};

/**
 * Adds requests to counters that belong to no merchant, in one statement.
 * @param counters each (scope, subject) once.
 * @returns the rows in the order of `counters`.
 */
export async function addCounts(db: Queryable, counters: readonly CountedSubject[]): Promise<CountRow[]> {
  const { rows } = await db.query<CountRow>({
    name: 'add-counts',
    text: `
      with request as (
        select * from unnest($1::text[], $2::text[], $3::integer[], $4::integer[]) with ordinality
          as a (scope, subject, window_seconds, requests, position)
      ), counted as (
        insert into rate_limit_window as w (scope, subject, started_at, ends_at, count)
        select scope, subject, t.now, t.now + window_seconds * interval '1 second', requests
        from request, (select clock_timestamp() as now) t
        order by scope, subject
        ${addToWindow}
      )
      select count, seconds_left from request join counted using (scope, subject) order by position`,
    values: [
      counters.map(({ scope }) => scope),
      counters.map(({ subject }) => subject),
      counters.map(({ windowSeconds }) => windowSeconds),
      counters.map(({ requests }) => requests),
    ],
  });
  return rows;
}

/**
 * Deletes windows that are over; skips one that a request is restarting.
 * @returns how many were deleted, at most `batch`.
 */
export async function sweepWindows(db: Queryable, batch: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from rate_limit_window where (scope, subject) in (
       select scope, subject from rate_limit_window
       where ends_at <= clock_timestamp() order by ends_at limit $1 for update skip locked)`,
    [batch],
  );
  return rowCount ?? 0;
}
