import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

export type MerchantStatus = 'active' | 'blocked';

/** What an operator sees of a merchant. Credentials are not among it: only their hashes exist. */
export type Merchant = {
  merchant_id: string;
  name: string;
  status: MerchantStatus;
  status_version: number;
  created_at: Date;
  last_request_at: Date | null;
};

/** SHA-256 of the two credentials that belong to the API. */
export type CredentialHashes = { keyHash: Buffer; secretHash: Buffer };

const select = `
  select merchant_id, m.name, m.status, m.status_version, m.created_at, a.last_request_at
  from merchant m left join merchant_activity a using (merchant_id)`;

/** @returns when the merchant began to exist. */
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
  if (row === undefined) throw new Error('the new merchant was not stored');
  return row.created_at;
}

/** @returns null for an unknown merchant. */
export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant | null> {
  const { rows } = await db.query<Merchant>(`${select} where merchant_id = $1`, [merchantId]);
  return rows[0] ?? null;
}

/** Newest first: ids made later sort later. @param before the last id of the page before, or null for the first page. */
export async function listMerchants(db: Queryable, before: string | null, limit: number): Promise<Merchant[]> {
  const { rows } = await db.query<Merchant>(
    `${select} where $1::text is null or merchant_id < $1 order by merchant_id desc limit $2`,
    [before, limit],
  );
  return rows;
}

/**
 * Blocks or unblocks a merchant and counts its status version up.
 * @returns null when the merchant is unknown or already has this status.
 */
export async function changeStatus(
  tx: Queryable,
  merchantId: string,
  status: MerchantStatus,
): Promise<{ statusVersion: number; changedAt: Date } | null> {
  const { rows } = await tx.query<{ status_version: number; changed_at: Date }>(
    `update merchant set status = $2, status_version = status_version + 1
     where merchant_id = $1 and status <> $2
     returning status_version, clock_timestamp() as changed_at`,
    [merchantId, status],
  );
  const row = rows[0];
  return row === undefined ? null : { statusVersion: row.status_version, changedAt: row.changed_at };
}

/**
 * Puts new API credentials in the place of both old ones. The secret goes first, as in a rotation, which locks it first.
 * @returns false for an unknown merchant.
 */
export async function replaceCredentials(
  tx: Queryable,
  merchantId: string,
  hashes: CredentialHashes,
): Promise<boolean> {
  const secret = await tx.query(
    'update rotation_secret set secret_hash = $2, created_at = clock_timestamp() where merchant_id = $1',
    [merchantId, hashes.secretHash],
  );
  const key = await tx.query(
    'update api_key set key_hash = $2, created_at = clock_timestamp() where merchant_id = $1',
    [merchantId, hashes.keyHash],
  );
  return secret.rowCount === 1 && key.rowCount === 1;
}

/** Belongs in the transaction of the change it tells of. */
export async function insertAudit(tx: Queryable, merchantId: string, action: string, author: Author): Promise<void> {
  await tx.query('insert into merchant_audit (merchant_id, action, actor, reason) values ($1, $2, $3, $4)', [
    merchantId,
    action,
    author.actor,
    author.reason,
  ]);
}
