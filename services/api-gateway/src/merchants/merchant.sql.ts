import type { Merchant, MerchantStatus } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339, type WithDates } from '@quittance/runtime/time.ts';

/** An account without its credentials. */
export type MerchantRow = WithDates<Merchant, 'created_at' | 'last_request_at'>;

/** SHA-256 of the API key and of the rotation secret. */
export type CredentialHashes = { keyHash: Buffer; secretHash: Buffer };

const select = `
  select merchant_id, m.name, m.display_name, m.status, m.status_version, m.created_at, a.last_request_at, m.creations_per_minute
  from merchant m left join merchant_activity a using (merchant_id)`;

/** @returns the time of registration. */
export async function insertMerchant(
  tx: Queryable,
  merchant: { merchantId: string; name: string } & CredentialHashes,
): Promise<Date> {
  const { rows } = await tx.query<{ created_at: Date }>(
    `with registered as (
       insert into merchant (merchant_id, name) values ($1, $2) returning merchant_id, created_at
     ), keyed as (
       insert into api_key (key_hash, merchant_id) select $3, merchant_id from registered
     ), secured as (
       insert into rotation_secret (secret_hash, merchant_id) select $4, merchant_id from registered
     )
     select created_at from registered`,
    [merchant.merchantId, merchant.name, merchant.keyHash, merchant.secretHash],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`inserting merchant ${merchant.merchantId} returned no row`);
  return row.created_at;
}

/** @returns null for an unknown merchant. */
export async function findMerchant(db: Queryable, merchantId: string): Promise<MerchantRow | null> {
  const { rows } = await db.query<MerchantRow>(`${select} where merchant_id = $1`, [merchantId]);
  return rows[0] ?? null;
}

/**
 * Newest first: ids sort by time.
 * @param page.before the last id of the previous page, or null for the first page.
 * @param page.name part of the name or of the display name, in any case; null for all. It scans every merchant, a tenth of a second for
 *   100,000: an index on parts of words needs pg_trgm, which not every server has.
 */
export async function listMerchants(
  db: Queryable,
  { before, name }: { before: string | null; name: string | null },
  limit: number,
): Promise<MerchantRow[]> {
  const { rows } = await db.query<MerchantRow>(
    `${select}
     where ($1::text is null or merchant_id < $1)
       and ($2::text is null or strpos(lower(m.name), lower($2)) > 0 or strpos(lower(m.display_name), lower($2)) > 0)
     order by merchant_id desc limit $3`,
    [before, name, limit],
  );
  return rows;
}

/** The changed fields of a merchant, for the audit log. */
export type Change = { before: object | null; after: object };

/**
 * Blocks or unblocks a merchant and increments its status version.
 * @returns null if the merchant is unknown or already has this status.
 */
export async function changeStatus(
  tx: Queryable,
  merchantId: string,
  status: MerchantStatus,
): Promise<({ statusVersion: number; changedAt: Date } & Change) | null> {
  const { rows } = await tx.query<{ found: MerchantStatus; status_version: number; changed_at: Date }>(
    `update merchant m set status = $2, status_version = m.status_version + 1
     from (select merchant_id, status from merchant where merchant_id = $1 for update) found
     where m.merchant_id = found.merchant_id and found.status <> $2
     returning found.status as found, m.status_version, clock_timestamp() as changed_at`,
    [merchantId, status],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { found, status_version: statusVersion, changed_at: changedAt } = row;
  return {
    statusVersion,
    changedAt,
    before: { status: found, status_version: statusVersion - 1 },
    after: { status, status_version: statusVersion },
  };
}

/** @param creations per minute; null for the default. @returns null if nothing changes, or for an unknown merchant. */
export async function setCreationRate(
  tx: Queryable,
  merchantId: string,
  creations: number | null,
): Promise<Change | null> {
  const { rows } = await tx.query<{ before: number | null }>(
    `update merchant m set creations_per_minute = $2
     from (select merchant_id, creations_per_minute as before from merchant where merchant_id = $1 for update) found
     where m.merchant_id = found.merchant_id and found.before is distinct from $2
     returning found.before`,
    [merchantId, creations],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { before: { creations_per_minute: row.before }, after: { creations_per_minute: creations } };
}

/**
 * Replaces both API credentials. It locks the secret first, as a rotation does, so that the two cannot deadlock.
 * @returns when the old and the new ones were created, or null for an unknown merchant.
 */
export async function replaceCredentials(
  tx: Queryable,
  merchantId: string,
  hashes: CredentialHashes,
): Promise<Change | null> {
  const secret = await replaceHash(
    tx,
    { table: 'rotation_secret', column: 'secret_hash' },
    merchantId,
    hashes.secretHash,
  );
  const key = await replaceHash(tx, { table: 'api_key', column: 'key_hash' }, merchantId, hashes.keyHash);
  if (secret === null || key === null) return null;
  return {
    before: { api_key_created_at: key.before, rotation_secret_created_at: secret.before },
    after: { api_key_created_at: key.after, rotation_secret_created_at: secret.after },
  };
}

async function replaceHash(
  tx: Queryable,
  { table, column }: { table: 'api_key' | 'rotation_secret'; column: 'key_hash' | 'secret_hash' },
  merchantId: string,
  hash: Buffer,
): Promise<{ before: string; after: string } | null> {
  const { rows } = await tx.query<{ before: Date; after: Date }>(
    `update ${table} c set ${column} = $2, created_at = clock_timestamp()
     from (select merchant_id, created_at from ${table} where merchant_id = $1 for update) found
     where c.merchant_id = found.merchant_id
     returning found.created_at as before, c.created_at as after`,
    [merchantId, hash],
  );
  const row = rows[0];
  return row === undefined ? null : { before: rfc3339(row.before), after: rfc3339(row.after) };
}
