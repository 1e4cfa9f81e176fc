import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import type { SettingsReader } from './settings.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A secret as the database stores it. */
export type SealedSecret = {
  /** 12-byte nonce, ciphertext, 16-byte tag. */
  secret_encrypted: Buffer;
  /** The encryption key that sealed it, so that replacing that key finds the rows that are left. */
  encryption_key_id: string;
};

export type KeyVault = ReturnType<typeof createKeyVault>;

/**
 * Seals secrets with an encryption key, and opens what that key or its predecessor sealed.
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
    /** @param id of the secret's row. */
    seal(id: string, secret: string): SealedSecret {
      const nonce = randomBytes(NONCE_BYTES);
      // The id is authenticated too, so that a sealed secret copied into another row does not open there.
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id));
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { secret_encrypted: sealed, encryption_key_id: encryptionKeyId };
    },
    /** @throws Error if it was sealed with a missing encryption key or for another id, or was changed. */
    open(id: string, { secret_encrypted: sealed, encryption_key_id: sealedWith }: SealedSecret): string {
      const opener = keys.get(sealedWith);
      if (opener === undefined) {
        const here = [...keys.keys()].join(' and ');
        throw new Error(`key ${id} was encrypted with key ${sealedWith}, this process has ${here}`);
      }
      const decipher = createDecipheriv(ALGORITHM, opener, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(id)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(text).toString('utf8');
    },
    /** @returns null if it does not open. */
    reseal(id: string, sealed: SealedSecret): SealedSecret | null {
      try {
        return vault.seal(id, vault.open(id, sealed));
      } catch {
        return null;
      }
    },
  };
  return vault;
}

const idOf = (encryptionKey: Buffer): string => createHash('sha256').update(encryptionKey).digest('hex').slice(0, 16);

/** 32 bytes in base64. */
const base64Key = /^[A-Za-z0-9+/]{43}=$/;

/** A setting that is an encryption key: 32 bytes in base64. */
export const readEncryptionKey = (read: SettingsReader, name: string): Buffer =>
  Buffer.from(read.text(name, { pattern: base64Key }), 'base64');

/** @returns null when it is absent. */
export function readOptionalEncryptionKey(read: SettingsReader, name: string): Buffer | null {
  const text = read.text(name, { default: '', pattern: base64Key });
  return text === '' ? null : Buffer.from(text, 'base64');
}
