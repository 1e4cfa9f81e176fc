import { hash } from 'node:crypto';
// Not imported from 'ethers/wallet', which loads signers, and with them private keys, into every process.
import { computeHmac, keccak256, SigningKey } from 'ethers/crypto';
import { decodeBase58, toBeHex } from 'ethers/utils';
import { addressFromHex, checksum, type AddressFamily } from './address.ts';

/** The public key of a wallet's account, from which everyone can derive its addresses, and nobody its private keys. */
export type ExtendedKey = {
  /** Compressed, 33 bytes. */
  publicKey: Buffer;
  chainCode: Buffer;
};

/** Why a text is refused. It never repeats the text, which may be a private key. */
type Refused = { key: null; problem: string };

/** BIP-32: version, depth, fingerprint of the parent, child number, chain code, key. */
const PAYLOAD_BYTES = 78;
const CHECKSUM_BYTES = 4;
const PUBLIC_VERSION = 0x0488b21e;
/** SLIP-132: ypub, zpub, and the two for several signers. Only wallets for Bitcoin use them. */
const BITCOIN_VERSIONS = [0x049d7cb2, 0x04b24746, 0x0295b43f, 0x02aa7ed3];
/** BIP-44: purpose, coin, account. */
const ACCOUNT_DEPTH = 3;

/**
 * Parses an extended public key (`xpub…`) of account level, as wallets export it. Derivation continues with 0/i below
 * it.
 * @returns the reason instead of the key for everything else: private keys first, so that nothing else sees them.
 */
export function parseExtendedKey(text: string): { key: ExtendedKey; problem: null } | Refused {
  const refused = (problem: string): Refused => ({ key: null, problem });
  if (/^\s*[a-z]{1,4}prv/i.test(text)) return refused(isPrivate);
  const bytes = readBase58check(text);
  if (bytes === null) return refused('must be an extended public key (xpub…); a character is missing or wrong');
  const [version, depth, publicKey] = [bytes.readUInt32BE(0), bytes[4], bytes.subarray(45)];
  // Public keys begin with 2 or 3 and private ones with 0, whatever the version says.
  if (publicKey[0] === 0) return refused(isPrivate);
  if (BITCOIN_VERSIONS.includes(version)) return refused('must be an xpub: ypub and zpub are keys of Bitcoin wallets');
  if (version !== PUBLIC_VERSION) return refused('must be an extended public key (xpub…) of the main network');
  if (depth !== ACCOUNT_DEPTH)
    return refused(
      `must be the key of an account (depth ${ACCOUNT_DEPTH}, such as m/44'/60'/0'), not of depth ${depth}`,
    );
  if (!isPoint(publicKey)) return refused('must contain a valid public key');
  return { key: { publicKey, chainCode: bytes.subarray(13, 45) }, problem: null };
}

const isPrivate =
  'must not be a private key: send the extended public key (xpub…). Treat the private key that you sent as exposed';

/** The payload, or null if the text is not base58 of that length or its checksum is wrong. */
function readBase58check(text: string): Buffer | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{100,120}$/.test(text)) return null;
  const number = decodeBase58(text);
  if (number >> BigInt(8 * (PAYLOAD_BYTES + CHECKSUM_BYTES)) !== 0n) return null;
  const bytes = Buffer.from(toBeHex(number, PAYLOAD_BYTES + CHECKSUM_BYTES).slice(2), 'hex');
  const payload = bytes.subarray(0, PAYLOAD_BYTES);
  return checksum(payload).equals(bytes.subarray(PAYLOAD_BYTES)) ? payload : null;
}

function isPoint(publicKey: Buffer): boolean {
  try {
    SigningKey.computePublicKey(publicKey);
    return true;
  } catch {
    return false;
  }
}

/**
 * SHA-256 of what determines the addresses, 32 bytes. Two spellings of one key, with another parent for example, have
 * the same.
 */
export const keyHash = ({ publicKey, chainCode }: ExtendedKey): Buffer =>
  hash('sha256', Buffer.concat([publicKey, chainCode]), 'buffer');

/** The canonical addresses 0/i of an account key, for `count` indexes from `from`. One takes about a millisecond. */
export function deriveAddresses(
  key: ExtendedKey,
  family: AddressFamily,
  { from, count }: { from: number; count: number },
): string[] {
  const external = deriveChild(key, 0);
  return Array.from({ length: count }, (_, position) => addressOf(deriveChild(external, from + position), family));
}

/** The order of secp256k1's group. */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const FIRST_HARDENED = 2 ** 31;

/**
 * CKDpub of BIP-32.
 * @throws Error for an index that only the private key can derive, and for one that has no key, which BIP-32 gives a
 *   probability of 2^-127.
 */
function deriveChild({ publicKey, chainCode }: ExtendedKey, index: number): ExtendedKey {
  if (!Number.isInteger(index) || index < 0 || index >= FIRST_HARDENED) throw new Error(`${index} is no index`);
  const number = Buffer.alloc(4);
  number.writeUInt32BE(index);
  const digits = computeHmac('sha512', chainCode, Buffer.concat([publicKey, number])).slice(2);
  const tweak = `0x${digits.slice(0, 64)}`;
  if (BigInt(tweak) >= GROUP_ORDER) throw new Error(`index ${index} has no key`);
  const point = SigningKey.addPoints(SigningKey.computePublicKey(tweak), publicKey, true);
  return { publicKey: Buffer.from(point.slice(2), 'hex'), chainCode: Buffer.from(digits.slice(64), 'hex') };
}

/** The last 20 bytes of the Keccak-256 of the point without its prefix: the same for both families. */
function addressOf({ publicKey }: ExtendedKey, family: AddressFamily): string {
  const point = SigningKey.computePublicKey(publicKey, false);
  return addressFromHex(family, `0x${keccak256(`0x${point.slice(4)}`).slice(-40)}`);
}
