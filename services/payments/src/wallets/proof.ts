import { parseAddress } from '@quittance/contracts/address.ts';
import { keccak256, Signature } from 'ethers/crypto';
import { hashMessage } from 'ethers/hash';
import { recoverAddress } from 'ethers/transaction';
import { concat, toUtf8Bytes } from 'ethers/utils';

/** What the owner of a wallet's key says by signing. */
export type Statement = {
  /** Where customers reach the checkout: a signature for one deployment is worth nothing to another. */
  deployment: string;
  merchantId: string;
  /** Canonical. */
  address: string;
  nonce: string;
  endsAt: Date;
};

/** The text to sign. One line, because a copied line break would make another text of it. */
export const textToSign = ({ deployment, merchantId, address, nonce, endsAt }: Statement): string =>
  `Quittance wallet proof: on ${deployment}, payments to ${address} are those of merchant ${merchantId} and of nobody else. ` +
  `Nonce ${nonce}, valid until ${endsAt.toISOString()}. Signing this moves no money.`;

/**
 * Checks a signature as wallets make it: EIP-191 for an EVM address, Tron's message signature for a Tron address.
 * @param signature 65 bytes of hex, with or without 0x, or 64 bytes as in EIP-2098.
 * @returns whether the address's key made it, or 'malformed'. A contract has no key, so that one (EIP-1271) cannot be proven.
 */
export function checkSignature(text: string, address: string, signature: string): 'valid' | 'other_key' | 'malformed' {
  const wallet = parseAddress(address);
  if (wallet === null) throw new Error(`${address} is no address`);
  const parsed = parseSignature(signature);
  if (parsed === null) return 'malformed';
  const digests = wallet.family === 'tron' ? tronDigests(text) : [hashMessage(text)];
  return digests.some((digest) => signerOf(digest, parsed) === wallet.hex) ? 'valid' : 'other_key';
}

const TRON_PREFIX = '\x19TRON Signed Message:\n';

/** With the text's length, as signMessageV2() of TronWeb and TIP-191 have it, and with 32 whatever it is, as its older sign() does. */
function tronDigests(text: string): string[] {
  const bytes = toUtf8Bytes(text);
  return [String(bytes.length), '32'].map((length) => keccak256(concat([toUtf8Bytes(TRON_PREFIX + length), bytes])));
}

function parseSignature(text: string): Signature | null {
  const digits = /^(?:0x)?([0-9a-f]{128}(?:[0-9a-f]{2})?)$/i.exec(text.trim())?.[1];
  if (digits === undefined) return null;
  try {
    return Signature.from(`0x${digits}`);
  } catch {
    // An impossible v, or the second of the two signatures that each key has for a text.
    return null;
  }
}

/** @returns 0x and 40 lowercase hex characters, or null for numbers that no key can have made. */
function signerOf(digest: string, signature: Signature): string | null {
  try {
    return recoverAddress(digest, signature).toLowerCase();
  } catch {
    return null;
  }
}
