import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { KeyVault, SealedSecret } from '../keys.ts';

/** Opening and sealing one takes microseconds; the rows are locked for as long as a batch takes. */
export const RESEAL_BATCH = 200;

/** How many signing keys in use were sealed with another encryption key than this one. */
export async function countForeignKeys(db: Queryable, encryptionKeyId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from signing_key where retired_at is null and encryption_key_id <> $1`,
    [encryptionKeyId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Seals a batch of signing keys anew that another encryption key of the vault sealed. What they are is not changed by it, so
 * attempts under way, and processes that have both encryption keys, notice nothing.
 * @returns how many there were, at most RESEAL_BATCH, and those that do not open; keys that a merchant is just replacing are left out.
 */
export async function resealKeys(
  tx: Transaction,
  vault: KeyVault,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const { encryptionKeyId, openedKeyIds } = vault;
  const { rows } = await tx.query<SealedSecret & { key_id: string }>(
    `select key_id, secret_encrypted, encryption_key_id from signing_key
      where retired_at is null and encryption_key_id <> $1 and encryption_key_id = any($2)
      limit $3 for update skip locked`,
    [encryptionKeyId, openedKeyIds, RESEAL_BATCH],
  );
  const opened = rows.map((row) => ({ keyId: row.key_id, secret: openOrNull(vault, row) }));
  const resealed = opened.flatMap(({ keyId, secret }) =>
    secret === null ? [] : [{ keyId, ...vault.seal(keyId, secret) }],
  );
  await tx.query(
    `update signing_key k set secret_encrypted = r.secret_encrypted, encryption_key_id = $1
       from unnest($2::text[], $3::bytea[]) as r (key_id, secret_encrypted) where k.key_id = r.key_id`,
    [encryptionKeyId, resealed.map(({ keyId }) => keyId), resealed.map((one) => one.secret_encrypted)],
  );
  const unopened = opened.filter(({ secret }) => secret === null).map(({ keyId }) => keyId);
  return { resealed: resealed.length, unopened };
}

function openOrNull(vault: KeyVault, row: SealedSecret & { key_id: string }): string | null {
  try {
    return vault.open(row.key_id, row);
  } catch {
    return null;
  }
}
