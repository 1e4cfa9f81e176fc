import type { Queryable } from '@quittance/postgres/pool.ts';
import { addToWindow, type Count, type CountRow, type RateLimit } from './rate-limit-window.ts';

/** Whether an active merchant has this rotation secret. Counts nothing. */
export async function isRotationSecret(db: Queryable, secretHash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is-rotation-secret',
    text: `
      select from rotation_secret r join merchant m using (merchant_id)
      where r.secret_hash = $1 and m.status = 'active'`,
    values: [secretHash],
  });
  return rowCount === 1;
}

/**
 * Counts the attempt and, within the limit, replaces the API key, in one statement.
 * The secret's row is locked, so a rotation that races the replacement of a stolen secret finds no merchant.
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
        ${addToWindow}
      ), owner as (
        select r.merchant_id
        from counted, rotation_secret r join merchant m using (merchant_id)
        where counted.count <= $4::integer and r.secret_hash = $2 and m.status = 'active'
        for update of r
      ), found as (
        select k.merchant_id, k.created_at from owner join api_key k using (merchant_id) for update of k
      ), replaced as (
        update api_key k set key_hash = $5, created_at = clock_timestamp()
        from found where k.merchant_id = found.merchant_id
        returning k.merchant_id, found.created_at as before, k.created_at as after
      ), audited as (
        insert into merchant_audit (merchant_id, action, actor, reason, before, after)
        select merchant_id, 'rotate_api_key', 'merchant', 'asked for with the rotation secret',
               jsonb_build_object('api_key_created_at', ${rfc3339Sql('before')}),
               jsonb_build_object('api_key_created_at', ${rfc3339Sql('after')})
        from replaced
      )
      select counted.count, counted.seconds_left, exists (select from replaced) as rotated from counted`,
    values: [limit.scope, secretHash, limit.windowSeconds, limit.limit, newKeyHash],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('the counter of a key rotation returned no row');
  return { counted: { count: row.count, secondsLeft: row.seconds_left }, rotated: row.rotated };
}

/** As rfc3339() writes it, which cuts the microseconds off. */
const rfc3339Sql = (timestamp: string): string =>
  `to_char(date_trunc('milliseconds', ${timestamp}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
