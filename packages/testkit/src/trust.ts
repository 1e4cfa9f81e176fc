import { newSigningKey, parsePublicKeys, signerOfKey, trustedKeysOf, type Trust } from '@quittance/runtime/trust.ts';

/** One for each process that signs, new in each test file. */
export const signingKeys = {
  'api-gateway': newSigningKey(),
  payments: newSigningKey(),
  'chain-watcher': newSigningKey(),
  'webhook-dispatcher': newSigningKey(),
  quota: newSigningKey(),
  notifier: newSigningKey(),
  ops: newSigningKey(),
};

export type KeyHolder = keyof typeof signingKeys;

const TRUSTED_KEYS = trustedKeysOf(signingKeys);

/** The trust settings of a process. */
export const trustSettingsOf = (name: KeyHolder) => ({ SIGNING_KEY: signingKeys[name], TRUSTED_KEYS });

export const trustOf = (name: KeyHolder): Trust => ({
  signer: signerOfKey(signingKeys[name]),
  publicKeys: parsePublicKeys(TRUSTED_KEYS),
  sharedTokens: [],
});

/** The trust of a process without a key: it accepts unsigned messages. */
export const sharedTrust = (token = 'a token that all services of the tests share'): Trust => ({
  signer: null,
  publicKeys: new Map(),
  sharedTokens: [token],
});
