import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';

/** A signing key as the database holds it. */
export type SealedSecret = {
  /** 12-byte nonce, ciphertext, 16-byte tag. */
  secret_encrypted: Buffer;
  /** Which encryption key sealed it, so that a later rotation knows what is left to do. */
  encryption_key_id: string;
};

/** Seals and opens signing keys with the one key from the environment. */
export type KeyVault = {
  /** Names the encryption key without giving it away: 16 hex characters of its SHA-256. */
  encryptionKeyId: string;
  seal(keyId: string, secret: string): SealedSecret;
  /** @throws Error when it was sealed with another encryption key, for another key id, or was changed. */
  open(keyId: string, sealed: SealedSecret): string;
};

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param encryptionKey 32 bytes. */
export function createKeyVault(encryptionKey: Buffer): KeyVault {
  // Made once: from plain bytes it would be made anew for each secret, which takes longer than opening it.
  const key = createSecretKey(encryptionKey);
  const encryptionKeyId = createHash('sha256').update(encryptionKey).digest('hex').slice(0, 16);
  return {
    encryptionKeyId,
    seal(keyId, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      // The key id is authenticated too, so that a sealed secret copied into another row does not open there.
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(keyId));
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { secret_encrypted: sealed, encryption_key_id: encryptionKeyId };
    },
    open(keyId, { secret_encrypted: sealed, encryption_key_id: sealedWith }) {
      if (sealedWith !== encryptionKeyId) {
        throw new Error(
          `signing key ${keyId} was encrypted with key ${sealedWith}, this process has ${encryptionKeyId}`,
        );
      }
      const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(keyId)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(text).toString('utf8');
    },
  };
}
