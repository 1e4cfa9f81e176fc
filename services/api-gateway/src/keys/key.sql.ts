import {
  API_KEYS_MAX,
  FIRST_KEY,
  type ApiKey,
  type ApiKeyScope,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { addToWindow, type Count, type CountRow, type RateLimit } from '../limits/admission.sql.ts';

type ApiKeyRow = WithDates<ApiKey, 'created_at' | 'revoked_at'>;

/**
 * Adds a key in addition to the first one. The lock on the merchant's row keeps concurrent additions within the limit.
 * @returns `added`, or why no key was added.
 */
export async function addApiKey(
  tx: Queryable,
  key: { merchantId: string; name: string; scope: ApiKeyScope; keyHash: Buffer },
): Promise<'added' | 'unknown_merchant' | 'name_taken' | 'too_many'> {
  const { merchantId, name, scope, keyHash } = key;
  const { rowCount } = await tx.query('select from merchant where merchant_id = $1 for no key update', [merchantId]);
  if (rowCount === 0) return 'unknown_merchant';
  const { rows } = await tx.query<{ name: string }>(
    'select name from additional_api_key where merchant_id = $1 and revoked_at is null',
    [merchantId],
  );
  const names = [FIRST_KEY, ...rows.map((row) => row.name)];
  if (names.includes(name)) return 'name_taken';
  if (names.length >= API_KEYS_MAX) return 'too_many';
  await tx.query('insert into additional_api_key (key_hash, merchant_id, name, scope) values ($1, $2, $3, $4)', [
    keyHash,
    merchantId,
    name,
    scope,
  ]);
  return 'added';
}

/** The active keys, beginning with the first one, then the revoked ones, latest first; at most `limit`. Empty for an unknown merchant. */
export async function listApiKeys(db: Queryable, merchantId: string, limit: number): Promise<ApiKeyRow[]> {
  const { rows } = await db.query<ApiKeyRow>(
    `select $2::text as name, 'all' as scope, created_at, null::timestamptz as revoked_at
       from api_key where merchant_id = $1
     union all (
       select name, scope, created_at, revoked_at from additional_api_key
       where merchant_id = $1 order by revoked_at desc nulls first, created_at limit $3
     )`,
    [merchantId, FIRST_KEY, limit],
  );
  return rows;
}

/** @returns the revoked key, or null if no active key other than the first has this name. */
export async function revokeApiKey(tx: Queryable, merchantId: string, name: string): Promise<ApiKeyRow | null> {
  const { rows } = await tx.query<ApiKeyRow>(
    `update additional_api_key set revoked_at = clock_timestamp()
     where merchant_id = $1 and name = $2 and revoked_at is null
     returning name, scope, created_at, revoked_at`,
    [merchantId, name],
  );
  return rows[0] ?? null;
}

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
 * It locks the secret's row, so a rotation that races the replacement of a stolen secret finds no merchant.
 * @param secretHash SHA-256 of the rotation secret. Its hex is the counter's subject, whether or not the secret exists.
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

/** As rfc3339() writes it, without microseconds. */
const rfc3339Sql = (timestamp: string): string =>
  `to_char(date_trunc('milliseconds', ${timestamp}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
