import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** A signing key as the database holds it. */
export type SealedSecret = {
  /** 12-byte nonce, ciphertext, 16-byte tag. */
  secret_encrypted: Buffer;
  /** Which encryption key sealed it, so that a rotation of that key finds what is left to do. */
  encryption_key_id: string;
};

/** A signing key that may or may not come into use. */
export type NewKey = SealedSecret & { keyId: string };

/** One transaction holds its row locks for as long as sealing this many takes: some milliseconds. */
export const RESEAL_BATCH = 200;

export async function insertKey(tx: Transaction, merchantId: string, key: NewKey): Promise<void> {
  await tx.query(
    `insert into signing_key (key_id, merchant_id, secret_encrypted, encryption_key_id) values ($1, $2, $3, $4)`,
    [key.keyId, merchantId, key.secret_encrypted, key.encryption_key_id],
  );
}

/** Counts signing keys in use that were sealed with none of these encryption keys: a process that has only these cannot open them. */
export async function countForeignKeys(db: Queryable, encryptionKeyIds: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from signing_key where retired_at is null and encryption_key_id <> all($1)`,
    [encryptionKeyIds],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Replaces the sealed form of a batch of signing keys. The keys themselves do not change, so attempts in flight, and processes that
 * have both encryption keys, notice nothing. Keys that a merchant is just replacing are left out.
 * @param vault.reseal returns null for a key that does not open.
 * @returns how many were sealed again, at most RESEAL_BATCH, and which ones do not open.
 */
export async function resealKeys(
  tx: Transaction,
  vault: {
    encryptionKeyId: string;
    openedKeyIds: readonly string[];
    reseal: (keyId: string, sealed: SealedSecret) => SealedSecret | null;
  },
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const { rows } = await tx.query<NewKey>(
    `select key_id as "keyId", secret_encrypted, encryption_key_id from signing_key
      where retired_at is null and encryption_key_id <> $1 and encryption_key_id = any($2)
      limit $3 for update skip locked`,
    [vault.encryptionKeyId, vault.openedKeyIds, RESEAL_BATCH],
  );
  const sealed = rows.map((key) => ({
    keyId: key.keyId,
    secret: vault.reseal(key.keyId, key)?.secret_encrypted ?? null,
  }));
  const resealed = sealed.filter(({ secret }) => secret !== null);
  await tx.query(
    `update signing_key k set secret_encrypted = r.secret_encrypted, encryption_key_id = $1
       from unnest($2::text[], $3::bytea[]) as r (key_id, secret_encrypted) where k.key_id = r.key_id`,
    [vault.encryptionKeyId, resealed.map(({ keyId }) => keyId), resealed.map(({ secret }) => secret)],
  );
  const unopened = sealed.filter(({ secret }) => secret === null).map(({ keyId }) => keyId);
  return { resealed: resealed.length, unopened };
}
