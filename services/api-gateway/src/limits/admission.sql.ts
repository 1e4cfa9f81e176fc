import type { ApiKeyScope } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** Requests with one API key for one counter. */
export type CallerRequests = {
  /** SHA-256 of the API key. */
  keyHash: Buffer;
  /** The smallest scope with which a key may make them. */
  scope: ApiKeyScope;
  /** The counter that counts them, or null. */
  limit: Pick<RateLimit, 'scope' | 'windowSeconds'> | null;
  requests: number;
};

export type CallerRow = {
  merchant_id: string;
  /** When the merchant's previous authenticated request came, or null for its first. */
  last_request_at: Date | null;
  /** Set by support; null for the default. */
  creations_per_minute: number | null;
  /** The counter's value after these requests and all earlier ones; null without a counter. */
  counted: CountRow | null;
};

type AdmittedRow = Omit<CallerRow, 'counted'> & {
  /** From 1. */
  position: number;
  count: number | null;
  seconds_left: number | null;
};

/**
 * Resolves API keys and adds their requests to their merchants' counters, in one round trip. Keys of one merchant share its counters.
 * Windows are locked before activities, each in a fixed order, so that two of these statements cannot deadlock.
 * @returns a row for each caller, in order; null if no active merchant has the key, or if the key's scope is smaller.
 */
export async function admitCallers(db: Queryable, callers: readonly CallerRequests[]): Promise<(CallerRow | null)[]> {
  const { rows } = await db.query<AdmittedRow>({
    name: 'admit-callers',
    text: `
      with caller as materialized (
        select a.position, a.scope, a.window_seconds, a.requests, m.merchant_id, y.last_request_at, m.creations_per_minute,
               sum(a.requests) over (partition by a.scope, m.merchant_id order by a.position) as requests_so_far
        from unnest($1::bytea[], $2::text[], $3::text[], $4::integer[], $5::integer[]) with ordinality
            as a (key_hash, needed, scope, window_seconds, requests, position)
          -- Two joins, each by an index: a union of the two tables would be scanned.
          left join api_key f on f.key_hash = a.key_hash
          left join additional_api_key k on k.key_hash = a.key_hash and k.revoked_at is null
          join merchant m on m.merchant_id = coalesce(f.merchant_id, k.merchant_id)
          left join merchant_activity y on y.merchant_id = m.merchant_id
        where m.status = 'active' and (f.key_hash is not null or k.scope in ('all', a.needed) or a.needed = 'read')
      ), counted as (
        insert into rate_limit_window as w (scope, subject, started_at, ends_at, count)
        select scope, merchant_id, t.now, t.now + window_seconds * interval '1 second', requests
        from (
            select scope, merchant_id, max(window_seconds) as window_seconds, sum(requests) as requests
            from caller where scope is not null group by scope, merchant_id
          ) asked, (select clock_timestamp() as now) t
        order by scope, merchant_id
        ${addToWindow}
      ), answer as materialized (
        select caller.position, merchant_id, last_request_at, creations_per_minute, counted.seconds_left,
               (counted.count - sum(requests) over (partition by caller.scope, merchant_id) + requests_so_far)::integer as count
        from caller left join counted on counted.scope = caller.scope and counted.subject = caller.merchant_id
      ), touched as (
        insert into merchant_activity as y (merchant_id, last_request_at)
        select merchant_id, clock_timestamp()
        from (select distinct merchant_id from answer) a
        order by merchant_id
        on conflict (merchant_id) do update set last_request_at = greatest(y.last_request_at, excluded.last_request_at)
      )
      select position::integer, merchant_id, last_request_at, creations_per_minute, count, seconds_left from answer`,
    values: [
      callers.map(({ keyHash }) => keyHash),
      callers.map(({ scope }) => scope),
      callers.map(({ limit }) => limit?.scope ?? null),
      callers.map(({ limit }) => limit?.windowSeconds ?? 0),
      callers.map(({ requests }) => requests),
    ],
  });
  const answers = new Array<CallerRow | null>(callers.length).fill(null);
  for (const { position, count, seconds_left, ...caller } of rows) {
    const counted = count === null || seconds_left === null ? null : { count, seconds_left };
    answers[position - 1] = { ...caller, counted };
  }
  return answers;
}

/** @returns what applies to people of this merchant, or null if it is not active. */
export async function findActiveMerchant(
  db: Queryable,
  merchantId: string,
): Promise<Pick<CallerRow, 'creations_per_minute'> | null> {
  const { rows } = await db.query<Pick<CallerRow, 'creations_per_minute'>>(
    `select creations_per_minute from merchant where merchant_id = $1 and status = 'active'`,
    [merchantId],
  );
  return rows[0] ?? null;
}

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
 * Adds requests to the window of (scope, subject), and starts a new window when the old one has ended.
 * The row lock makes it exact for any number of replicas. The clock is read once, after the lock is held, because a window could end
 * between two reads. A request over the limit is counted too, but nothing moves the end of a window.
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
type CountedSubject = {
  scope: string;
  /** What is counted, for example the hex SHA-256 of a public token; never a secret in plain text. */
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
 * Deletes ended windows; skips one that a request is restarting.
 * @returns the number deleted, at most `batch`.
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
