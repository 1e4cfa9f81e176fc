import { describe, expect, test } from '@jest/globals';
import { settings } from '../src/settings.ts';
import { isSignedBy, newSigningKey, parsePublicKeys, signerOfKey, trustedKeysOf, trustSettings } from '../src/trust.ts';

const [own, other] = [newSigningKey(), newSigningKey()];
const TRUSTED_KEYS = trustedKeysOf({ payments: own, quota: other });
const INTERNAL_TOKEN = 't'.repeat(32);
const read = (env: NodeJS.ProcessEnv) => settings(env, trustSettings);

describe('keys', () => {
  test('only the owner of the private key can sign a text', () => {
    const keys = parsePublicKeys(TRUSTED_KEYS);
    const signature = signerOfKey(own)('text');
    expect(isSignedBy(keys, 'payments', 'text', signature)).toBe(true);
    expect(isSignedBy(keys, 'quota', 'text', signature)).toBe(false);
    expect(isSignedBy(keys, 'nobody', 'text', signature)).toBe(false);
    expect(isSignedBy(keys, 'payments', 'other text', signature)).toBe(false);
    expect(isSignedBy(keys, 'payments', 'text', signature.subarray(1))).toBe(false);
  });

  test('both keys of a process are valid while one replaces the other', () => {
    const next = newSigningKey();
    const keys = parsePublicKeys(`${TRUSTED_KEYS}, ${trustedKeysOf({ payments: next })}`);
    for (const key of [own, next]) expect(isSignedBy(keys, 'payments', 'text', signerOfKey(key)('text'))).toBe(true);
  });

  test('are those of RFC 8032', () => {
    // Its second test: one byte.
    const secret = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
    const signature =
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';
    const key = Buffer.from(secret, 'hex').toString('base64url');
    expect(signerOfKey(key)(Buffer.from('72', 'hex')).toString('hex')).toBe(signature);
    const publicKey = Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex');
    expect(trustedKeysOf({ payments: key })).toBe(`payments=${publicKey.toString('base64url')}`);
  });
});

describe('settings', () => {
  test('a process needs its own key, whose public key is in TRUSTED_KEYS', () => {
    const trust = read({ SIGNING_KEY: own, TRUSTED_KEYS });
    expect(trust.signer).not.toBeNull();
    expect([...trust.publicKeys.keys()]).toEqual(['payments', 'quota']);
    expect(trust.sharedTokens).toEqual([]);
    expect(() => read({})).toThrow('SIGNING_KEY: is required');
    expect(() => read({ SIGNING_KEY: newSigningKey(), TRUSTED_KEYS })).toThrow('SIGNING_KEY: belongs to none of');
    expect(() => read({ SIGNING_KEY: own })).toThrow('SIGNING_KEY: belongs to none of TRUSTED_KEYS');
  });

  test('a process with the shared token works with or without a key', () => {
    expect(read({ INTERNAL_TOKEN })).toMatchObject({ signer: null, sharedTokens: [INTERNAL_TOKEN] });
    const both = read({ INTERNAL_TOKEN, INTERNAL_TOKEN_PREVIOUS: 'p'.repeat(32), SIGNING_KEY: own, TRUSTED_KEYS });
    expect(both.signer).not.toBeNull();
    expect(both.sharedTokens).toEqual([INTERNAL_TOKEN, 'p'.repeat(32)]);
    expect(() => read({ INTERNAL_TOKEN: 'short', SIGNING_KEY: own, TRUSTED_KEYS })).toThrow('INTERNAL_TOKEN');
  });

  test.each([
    ['SIGNING_KEY', 'a-key-that-nobody-may-read-in-a-log'],
    ['TRUSTED_KEYS', 'payments=short'],
    ['TRUSTED_KEYS', 'no key'],
    ['TRUSTED_KEYS', `PAYMENTS=${'a'.repeat(43)}`],
  ])('a wrong %s is refused without being repeated', (name, value) => {
    const attempt = () => read({ SIGNING_KEY: own, TRUSTED_KEYS, [name]: value });
    expect(attempt).toThrow(`${name}: `);
    expect(attempt).not.toThrow(value);
  });
});
