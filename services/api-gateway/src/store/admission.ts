import type { Queryable } from '@quittance/postgres/pool.ts';
import type { RateLimit } from '../rate-limits.ts';

/** What one counter said to one request. */
export type Count = {
  /** Requests of this window so far, this one included. */
  count: number;
  /** Whole seconds until the window ends, at least 1. */
  secondsLeft: number;
};

export type Caller = {
  merchantId: string;
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  /** Null when no counter was asked for. */
  counted: Count | null;
};

/**
 * Takes one request into the window of (scope, subject), beginning a new window when the old one is over.
 * The row lock makes it exact for any number of replicas. The clock is read once, after the lock is held: read twice, the end
 * of a window could fall between the two. A request over the limit counts as well, but nothing moves the end of a window.
 */
const takeIntoWindow = `
  on conflict (scope, subject) do update set (started_at, ends_at, count) = (
    select case when w.ends_at <= t.now then t.now else w.started_at end,
           case when w.ends_at <= t.now then t.now + (excluded.ends_at - excluded.started_at) else w.ends_at end,
           case when w.ends_at <= t.now then 1 else w.count + 1 end
    from (select clock_timestamp() as now) t
  )
  returning count, greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as seconds_left`;

/**
 * Resolves an API key and takes the request into its merchant's counter, in one round trip.
 * The window is locked before the merchant, always, so that two requests of one merchant cannot deadlock.
 * @param keyHash SHA-256 of the API key.
 * @param limit null takes no counter.
 * @returns null when no active merchant has this key.
 */
export async function admitMerchant(db: Queryable, keyHash: Buffer, limit: RateLimit | null): Promise<Caller | null> {
  const { rows } = await db.query<CallerRow>({
    name: 'admit-merchant',
    text: `
      with caller as (
        select m.merchant_id, m.last_request_at
        from api_key k join merchant m using (merchant_id)
        where k.key_hash = $1 and m.status = 'active'
      ), counted as (
        insert into rate_limit_window as w (scope, subject, started_at, ends_at, count)
        select $2::text, caller.merchant_id, t.now, t.now + $3::integer * interval '1 second', 1
        from caller, (select clock_timestamp() as now) t
        where $2::text is not null
        ${takeIntoWindow}
      ), touched as (
        update merchant m set last_request_at = clock_timestamp()
        from caller left join counted on true
        where m.merchant_id = caller.merchant_id
      )
      select caller.merchant_id, caller.last_request_at, counted.count, counted.seconds_left
      from caller left join counted on true`,
    values: [keyHash, limit?.scope ?? null, limit?.windowSeconds ?? 0],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { count, seconds_left: secondsLeft } = row;
  return {
    merchantId: row.merchant_id,
    previousRequestAt: row.last_request_at,
    counted: count === null || secondsLeft === null ? null : { count, secondsLeft },
  };
}

/**
 * Takes a request into a counter that belongs to no merchant.
 * @param subject what is counted, e.g. the hex SHA-256 of a public token; never a secret in clear.
 */
export async function takeCount(db: Queryable, subject: string, limit: RateLimit): Promise<Count> {
  const { rows } = await db.query<CountRow>({
    name: 'take-count',
    text: `
      insert into rate_limit_window as w (scope, subject, started_at, ends_at, count)
      select $1::text, $2::text, t.now, t.now + $3::integer * interval '1 second', 1
      from (select clock_timestamp() as now) t
      ${takeIntoWindow}`,
    values: [limit.scope, subject, limit.windowSeconds],
  });
  return toCount(rows[0]);
}

/**
 * Counts the attempt and, within the limit, puts the new API key in the place of the old one, in one statement.
 * The secret's row is locked, so a rotation that races the replacement of a stolen secret finds no owner afterwards.
 * @param secretHash SHA-256 of the rotation secret; its hex is the counter's subject, known or not.
 * @param newKeyHash SHA-256 of the key that becomes valid.
 */
export async function rotateApiKey(
  db: Queryable,
  secretHash: Buffer,
  newKeyHash: Buffer,
  limit: RateLimit,
): Promise<{ counted: Count; rotated: boolean }> {
  const { rows } = await db.query<CountRow & { rotated: boolean }>({
    name: 'rotate-api-key',
    text: `
      with counted as (
        insert into rate_limit_window as w (scope, subject, started_at, ends_at, count)
        select $1::text, encode($2::bytea, 'hex'), t.now, t.now + $3::integer * interval '1 second', 1
        from (select clock_timestamp() as now) t
        ${takeIntoWindow}
      ), owner as (
        select r.merchant_id
        from counted, rotation_secret r join merchant m using (merchant_id)
        where counted.count <= $4::integer and r.secret_hash = $2 and m.status = 'active'
        for update of r
      ), replaced as (
        update api_key k set key_hash = $5, created_at = clock_timestamp()
        from owner where k.merchant_id = owner.merchant_id
        returning k.merchant_id
      ), audited as (
        insert into merchant_audit (merchant_id, action, actor, reason)
        select merchant_id, 'rotate_api_key', 'merchant', 'asked for with the rotation secret' from replaced
      )
      select counted.count, counted.seconds_left, exists (select from replaced) as rotated from counted`,
    values: [limit.scope, secretHash, limit.windowSeconds, limit.limit, newKeyHash],
  });
  return { counted: toCount(rows[0]), rotated: rows[0]?.rotated === true };
}

/**
 * Deletes windows that are over; one that a request is beginning anew is skipped.
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

type CountRow = { count: number; seconds_left: number };
type CallerRow = {
  merchant_id: string;
  last_request_at: Date | null;
  count: number | null;
  seconds_left: number | null;
};

function toCount(row: CountRow | undefined): Count {
  if (row === undefined) throw new Error('a counter answered with no row');
  return { count: row.count, secondsLeft: row.seconds_left };
}
