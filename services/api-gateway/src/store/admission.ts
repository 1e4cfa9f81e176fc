import type { Queryable } from '@quittance/postgres/pool.ts';
import { addToWindow, type CountRow } from './rate-limit-window.ts';

/** Requests with one API key for one counter. */
export type CallerRequests = {
  /** SHA-256 of the API key. */
  keyHash: Buffer;
  /** Whether they only read, which a key of either scope may. */
  isRead: boolean;
  /** Null counts nothing. */
  counter: { scope: string; windowSeconds: number } | null;
  requests: number;
};

export type CallerRow = {
  merchant_id: string;
  /** When the merchant's previous authenticated request came, or null for its first. */
  last_request_at: Date | null;
  /** Where support has changed them; null for the contract's. */
  creations_per_minute: number | null;
  /** The counter after these requests and all before them; null without a counter. */
  counted: CountRow | null;
};

/**
 * Resolves API keys and adds their requests to their merchants' counters, in one round trip. Keys of one merchant share its counters.
 * Windows are locked before activities, and both in one order, so that two of these statements cannot deadlock.
 * @returns in the order of `callers`; null where no active merchant has the key, or the key may only read.
 */
export async function admitCallers(db: Queryable, callers: readonly CallerRequests[]): Promise<(CallerRow | null)[]> {
  const { rows } = await db.query<AdmittedRow>({
    name: 'admit-callers',
    text: `
      with caller as materialized (
        select a.position, a.scope, a.window_seconds, a.requests, m.merchant_id, y.last_request_at, m.creations_per_minute,
               sum(a.requests) over (partition by a.scope, m.merchant_id order by a.position) as requests_so_far
        from unnest($1::bytea[], $2::boolean[], $3::text[], $4::integer[], $5::integer[]) with ordinality
            as a (key_hash, is_read, scope, window_seconds, requests, position)
          -- Each to one row by its index: a union of the two would be read through.
          left join api_key f on f.key_hash = a.key_hash
          left join additional_api_key k on k.key_hash = a.key_hash and k.revoked_at is null
          join merchant m on m.merchant_id = coalesce(f.merchant_id, k.merchant_id)
          left join merchant_activity y on y.merchant_id = m.merchant_id
        where m.status = 'active' and (a.is_read or f.key_hash is not null or k.scope = 'all')
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
      callers.map(({ isRead }) => isRead),
      callers.map(({ counter }) => counter?.scope ?? null),
      callers.map(({ counter }) => counter?.windowSeconds ?? 0),
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

type AdmittedRow = {
  /** From 1. */
  position: number;
  merchant_id: string;
  last_request_at: Date | null;
  creations_per_minute: number | null;
  count: number | null;
  seconds_left: number | null;
};
