import { createPrivateKey, createPublicKey, randomBytes, sign, verify, type KeyObject } from 'node:crypto';
import type { SettingsReader } from './settings.ts';

/**
 * The Ed25519 keys with which processes authenticate each other. Each process has its own private key and the public
 * keys of all. In settings, a key is its 32 bytes in base64url: 43 characters.
 */
export type Trust = {
  /** Signs what this process sends; null in a process without a key. */
  signer: Signer | null;
  publicKeys: PublicKeys;
  /**
   * The token that all services shared up to release 0.2.0, and the one that replaces it or that it replaces. While one
   * is set, it is accepted instead of a signature, and messages without a signature are accepted too. Empty in
   * installations that started with a later release.
   */
  sharedTokens: readonly string[];
};

/** @returns 64 bytes. */
export type Signer = (text: string | Buffer) => Buffer;

/** By the name of the process that has the private key. A process has two keys while its key is being replaced. */
export type PublicKeys = ReadonlyMap<string, readonly KeyObject[]>;

export function isSignedBy(keys: PublicKeys, name: string, text: string | Buffer, signature: Buffer): boolean {
  const bytes = Buffer.from(text);
  return (keys.get(name) ?? []).some((key) => signature.length === 64 && verify(null, bytes, key, signature));
}

/** The settings SIGNING_KEY, TRUSTED_KEYS, INTERNAL_TOKEN and INTERNAL_TOKEN_PREVIOUS. */
export function trustSettings(read: SettingsReader): Trust {
  const publicKeys = read.parsed<PublicKeys>('TRUSTED_KEYS', { default: new Map() }, parsePublicKeys);
  const sharedTokens = ['INTERNAL_TOKEN', 'INTERNAL_TOKEN_PREVIOUS']
    .map((name) => read.optionalSecret(name, { minLength: 32 }))
    .filter((token) => token !== null);
  // A process that has a shared token may still have no key. Every other process needs its own.
  const privateKey =
    sharedTokens.length > 0
      ? read.parsed<KeyObject | null>('SIGNING_KEY', { default: null }, (text) => knownKey(text, publicKeys))
      : read.required('SIGNING_KEY', (text) => knownKey(text, publicKeys));
  return { signer: privateKey && signerOf(privateKey), publicKeys, sharedTokens };
}

/** @throws Error if the text is not a private key. */
export const signerOfKey = (text: string): Signer => signerOf(privateKeyOf(text));

const signerOf =
  (key: KeyObject): Signer =>
  (text) =>
    sign(null, Buffer.from(text), key);

export const newSigningKey = (): string => randomBytes(32).toString('base64url');

/**
 * @param signingKeys by the name of the process.
 * @returns the setting TRUSTED_KEYS for every process that must accept these processes.
 */
export const trustedKeysOf = (signingKeys: Readonly<Record<string, string>>): string =>
  Object.entries(signingKeys)
    .map(([name, key]) => `${name}=${publicTextOf(privateKeyOf(key))}`)
    .join(',');

/** @throws Error, which doesn't repeat the text. */
export function parsePublicKeys(text: string): PublicKeys {
  const keys = new Map<string, KeyObject[]>();
  for (const item of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const [name = '', key = ''] = item.split('=');
    if (!/^[a-z][a-z-]*$/.test(name)) throw new Error('must be a list of name=key with commas between them');
    keys.set(name, [...(keys.get(name) ?? []), publicKeyOf(key, name)]);
  }
  return keys;
}

function knownKey(text: string, publicKeys: PublicKeys): KeyObject {
  const key = privateKeyOf(text);
  const own = publicTextOf(key);
  // No process would accept its signatures, and the errors would appear in the other processes.
  if (![...publicKeys.values()].flat().some((known) => textOf(known) === own))
    throw new Error('belongs to none of TRUSTED_KEYS');
  return key;
}

/** The prefix of the 32 bytes in the usual encodings (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const KEY = /^[A-Za-z0-9_-]{43}$/;

function privateKeyOf(text: string): KeyObject {
  if (!KEY.test(text)) throw new Error('must be 32 bytes in base64url: 43 characters');
  const der = Buffer.concat([PRIVATE_PREFIX, Buffer.from(text, 'base64url')]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function publicKeyOf(text: string, name: string): KeyObject {
  if (!KEY.test(text)) throw new Error(`the key of ${name} must be 32 bytes in base64url: 43 characters`);
  const der = Buffer.concat([PUBLIC_PREFIX, Buffer.from(text, 'base64url')]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

const publicTextOf = (key: KeyObject): string => textOf(createPublicKey(key));

const textOf = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url');
