import { hash } from 'node:crypto';
// Not imported from 'ethers' itself, which loads providers and wallets into every process.
import { getAddress } from 'ethers/address';
import { decodeBase58, encodeBase58, toBeHex } from 'ethers/utils';

export type AddressFamily = 'evm' | 'tron';

export type ParsedAddress = {
  family: AddressFamily;
  /** The canonical spelling: EIP-55 checksummed for EVM, base58check for Tron. */
  address: string;
  /** The 20 bytes that event topics carry: 0x and 40 lowercase hex characters, for both families. */
  hex: string;
};

const TRON_VERSION = 0x41;
const TRON_LENGTH = 34;

/**
 * Parses a wallet address that a person or a node wrote.
 * @returns null when it is neither an EVM address (mixed case must satisfy EIP-55) nor a Tron base58check address.
 */
export function parseAddress(text: string): ParsedAddress | null {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return parseEvm(text);
  if (text.length === TRON_LENGTH && text.startsWith('T')) return parseTron(text);
  return null;
}

/** Writes 20 bytes of hex (with 0x) in the canonical spelling of its family. */
export function addressFromHex(family: AddressFamily, hex: string): string {
  if (family === 'evm') return getAddress(hex.toLowerCase());
  const payload = Buffer.concat([Buffer.of(TRON_VERSION), Buffer.from(hex.slice(2), 'hex')]);
  return encodeBase58(Buffer.concat([payload, checksum(payload)]));
}

function parseEvm(text: string): ParsedAddress | null {
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const address = getAddress(`0x${lower}`);
  const isMixedCase = digits !== lower && digits !== digits.toUpperCase();
  if (isMixedCase && address !== text) return null;
  return { family: 'evm', address, hex: `0x${lower}` };
}

function parseTron(text: string): ParsedAddress | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return null;
  // 34 characters are never more than 25 bytes.
  const bytes = Buffer.from(toBeHex(decodeBase58(text), 25).slice(2), 'hex');
  const payload = bytes.subarray(0, 21);
  if (payload[0] !== TRON_VERSION || !checksum(payload).equals(bytes.subarray(21))) return null;
  return { family: 'tron', address: text, hex: `0x${payload.subarray(1).toString('hex')}` };
}

/** Of base58check: the first four bytes of a double SHA-256. */
export function checksum(payload: Buffer): Buffer {
  const once = hash('sha256', payload, 'buffer');
  return hash('sha256', once, 'buffer').subarray(0, 4);
}
