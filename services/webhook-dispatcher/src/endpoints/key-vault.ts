import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { type SealedSecret, countForeignKeys, RESEAL_BATCH, resealKeys } from './endpoint.sql.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type KeyVault = ReturnType<typeof createKeyVault>;

/**
 * Seals signing keys with an encryption key, and opens what that key or its predecessor sealed.
 * @param encryptionKey 32 bytes; seals and opens.
 * @param previousKey 32 bytes; also opens, while one key is replaced by the other.
 */
export function createKeyVault(encryptionKey: Buffer, previousKey: Buffer | null = null) {
  const encryptionKeyId = idOf(encryptionKey);
  // Created once: making a key from bytes takes longer than opening a secret.
  const key = createSecretKey(encryptionKey);
  const keys = new Map<string, KeyObject>([[encryptionKeyId, key]]);
  if (previousKey !== null) keys.set(idOf(previousKey), createSecretKey(previousKey));
  const vault = {
    /** Identifies the sealing key without revealing it: 16 hex characters of its SHA-256. */
    encryptionKeyId,
    /** Ids of all keys that open, including the sealing one. */
    openedKeyIds: [...keys.keys()] as readonly string[],
    seal(keyId: string, secret: string): SealedSecret {
      const nonce = randomBytes(NONCE_BYTES);
      // The key id is authenticated too, so that a sealed secret copied into another row does not open there.
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(keyId));
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { secret_encrypted: sealed, encryption_key_id: encryptionKeyId };
    },
    /** @throws Error if it was sealed with a missing encryption key or for another key id, or was changed. */
    open(keyId: string, { secret_encrypted: sealed, encryption_key_id: sealedWith }: SealedSecret): string {
      const opener = keys.get(sealedWith);
      if (opener === undefined) {
        const here = [...keys.keys()].join(' and ');
        throw new Error(`signing key ${keyId} was encrypted with key ${sealedWith}, this process has ${here}`);
      }
      const decipher = createDecipheriv(ALGORITHM, opener, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(keyId)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(text).toString('utf8');
    },
    /** @returns null if it does not open. */
    reseal(keyId: string, sealed: SealedSecret): SealedSecret | null {
      try {
        return vault.seal(keyId, vault.open(keyId, sealed));
      } catch {
        return null;
      }
    },
  };
  return vault;
}

const idOf = (encryptionKey: Buffer): string => createHash('sha256').update(encryptionKey).digest('hex').slice(0, 16);

/** A loop, because a process without the new encryption key seals with the old one until it is restarted. */
const INTERVAL_MS = 10_000;

/**
 * While there is a previous encryption key, seals its signing keys with the new one. The replicas share the rows. A key that does not open
 * is damaged: it does not delay the others, and the gauge counts it.
 */
export function startResealLoop({ pool, vault, logger, metrics }: LoopContext & { pool: Pool; vault: KeyVault }): Loop {
  const left = metrics.gauge(
    'webhook_keys_to_reseal',
    'Signing keys in use that were sealed with a key other than WEBHOOK_ENCRYPTION_KEY',
  );
  const isReplacing = vault.openedKeyIds.length > 1;
  // Without a previous key there are none, or the process would not have started.
  left.set(0);
  const run = async () => {
    if (!isReplacing) return { more: false };
    const { resealed, unopened } = await transaction(pool, (tx) => resealKeys(tx, vault));
    const count = await countForeignKeys(pool, [vault.encryptionKeyId]);
    left.set(count);
    if (resealed > 0) logger.info({ resealed, left: count }, 'signing keys were sealed with the new encryption key');
    if (unopened.length > 0) logger.error({ key_ids: unopened }, 'signing keys cannot be opened with the previous one');
    return { more: resealed === RESEAL_BATCH };
  };
  return startLoop({ name: 'reseal', intervalMs: INTERVAL_MS, logger, metrics, run });
}
