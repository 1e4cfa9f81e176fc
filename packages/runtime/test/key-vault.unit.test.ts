import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createKeyVault } from '../src/key-vault.ts';

const vault = createKeyVault(randomBytes(32));
const secret = `whsec_${randomBytes(32).toString('base64url')}`;

describe('sealed secrets', () => {
  test('open unchanged, and are not visible when sealed', () => {
    const sealed = vault.seal('whk_1', secret);
    expect(sealed.secret_encrypted.includes(secret.slice(0, 10))).toBe(false);
    expect(vault.open('whk_1', sealed)).toBe(secret);
  });

  test('the same key sealed twice looks different', () => {
    const [one, other] = [vault.seal('whk_1', secret), vault.seal('whk_1', secret)];
    expect(one.secret_encrypted.equals(other.secret_encrypted)).toBe(false);
  });

  test('a key sealed for another id does not open', () => {
    expect(() => vault.open('whk_2', vault.seal('whk_1', secret))).toThrow();
  });

  test('a single changed bit does not open', () => {
    const sealed = vault.seal('whk_1', secret);
    for (let index = 0; index < sealed.secret_encrypted.length; index += 1) {
      const changed = Buffer.from(sealed.secret_encrypted);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => vault.open('whk_1', { ...sealed, secret_encrypted: changed })).toThrow();
    }
  });

  test('the wrong encryption key is an error that names the right one', () => {
    const sealed = vault.seal('whk_1', secret);
    const other = createKeyVault(randomBytes(32));
    expect(() => other.open('whk_1', sealed)).toThrow(`encrypted with key ${vault.encryptionKeyId}`);
  });
});
