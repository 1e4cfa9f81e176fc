import {
  API_KEYS_MAX,
  FIRST_KEY,
  type ApiKey,
  type ApiKeyScope,
} from '@quittance/contracts/http/api-gateway/api-keys.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

export type ApiKeyRow = WithDates<ApiKey, 'created_at' | 'revoked_at'>;

/**
 * Adds a key beside the first one. The merchant's row is locked, so that two additions at once are counted one after the other.
 * @returns what stands in the way instead: the merchant is unknown, the name taken, or no further key allowed.
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

/** The working keys, the first one first, then the revoked ones, the last one first; at most `limit`. Empty for an unknown merchant. */
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

/** @returns the key as it then stands, or null when no working one beside the first has this name. */
export async function revokeApiKey(tx: Queryable, merchantId: string, name: string): Promise<ApiKeyRow | null> {
  const { rows } = await tx.query<ApiKeyRow>(
    `update additional_api_key set revoked_at = clock_timestamp()
     where merchant_id = $1 and name = $2 and revoked_at is null
     returning name, scope, created_at, revoked_at`,
    [merchantId, name],
  );
  return rows[0] ?? null;
}
