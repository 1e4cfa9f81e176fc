import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import type { SealedSecret } from '../store/signing-key.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type KeyVault = ReturnType<typeof createKeyVault>;

/**
 * Seals signing keys with one key from the environment, and opens what that one sealed, or the one that it replaces.
 * @param encryptionKey 32 bytes; seals and opens.
 * @param previousKey 32 bytes; opens as well, while one key is being replaced by the other.
 */
export function createKeyVault(encryptionKey: Buffer, previousKey: Buffer | null = null) {
  const encryptionKeyId = idOf(encryptionKey);
  // Made once: plain bytes would be turned into a key for each secret, which takes longer than opening it.
  const key = createSecretKey(encryptionKey);
  const keys = new Map<string, KeyObject>([[encryptionKeyId, key]]);
  if (previousKey !== null) keys.set(idOf(previousKey), createSecretKey(previousKey));
  const vault = {
    /** Names the key that seals without giving it away: 16 hex characters of its SHA-256. */
    encryptionKeyId,
    /** Of all keys that open, the one that seals included. */
    openedKeyIds: [...keys.keys()] as readonly string[],
    seal(keyId: string, secret: string): SealedSecret {
      const nonce = randomBytes(NONCE_BYTES);
      // The key id is authenticated too, so that a sealed secret copied into another row does not open there.
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(keyId));
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { secret_encrypted: sealed, encryption_key_id: encryptionKeyId };
    },
    /** @throws Error when it was sealed with an encryption key that is not here, for another key id, or was changed. */
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
    /** @returns null when it does not open. */
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
