import { newSigningKey, parsePublicKeys, signerOfKey, trustedKeysOf, type Trust } from '@quittance/runtime/trust.ts';

/** One for each process that signs, made anew for each test file. */
export const signingKeys = {
  'api-gateway': newSigningKey(),
  payments: newSigningKey(),
  'chain-watcher': newSigningKey(),
  'webhook-dispatcher': newSigningKey(),
  quota: newSigningKey(),
  ops: newSigningKey(),
};

export type KeyHolder = keyof typeof signingKeys;

const TRUSTED_KEYS = trustedKeysOf(signingKeys);

/** What a process is told. */
export const trustSettingsOf = (name: KeyHolder) => ({ SIGNING_KEY: signingKeys[name], TRUSTED_KEYS });

export const trustOf = (name: KeyHolder): Trust => ({
  signer: signerOfKey(signingKeys[name]),
  publicKeys: parsePublicKeys(TRUSTED_KEYS),
  sharedTokens: [],
});

/** What a process knows that was told no key: it takes what nobody signed. */
export const sharedTrust = (token = 'a token that all services of the tests share'): Trust => ({
  signer: null,
  publicKeys: new Map(),
  sharedTokens: [token],
});
