import { parseAddress } from '@quittance/contracts/address.ts';
import { keccak256, Signature } from 'ethers/crypto';
import { hashMessage } from 'ethers/hash';
import { recoverAddress } from 'ethers/transaction';
import { concat, toUtf8Bytes } from 'ethers/utils';
import { randomBytes } from 'node:crypto';
import type { Author } from '@quittance/contracts/author.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { PaymentMessages } from '../payment/outgoing-messages.ts';
import { settleOpen } from '../settlement/settlement.ts';
import { lockWallets } from '../settlement/transfer.sql.ts';
import {
  cancelOthersOnWallet,
  type Challenge,
  deleteChallenges,
  insertProof,
  lockChallenges,
  lockGate,
  lockOwner,
  markProven,
  openChallenge,
  type Proof,
} from './proof.sql.ts';

/** What the owner of a wallet's key states by signing. */
export type Statement = {
  /** Where customers reach the checkout: a signature for one deployment is not valid for another. */
  deployment: string;
  merchantId: string;
  /** Canonical. */
  address: string;
  nonce: string;
  endsAt: Date;
};

/** The text to sign. It is one line, because a copied line break could change it. */
export const textToSign = ({ deployment, merchantId, address, nonce, endsAt }: Statement): string =>
  `Quittance wallet proof: on ${deployment}, payments to ${address} are those of merchant ${merchantId} and of nobody else. ` +
  `Nonce ${nonce}, valid until ${endsAt.toISOString()}. Signing this moves no money.`;

/**
 * Checks a signature as wallets make it: EIP-191 for an EVM address, Tron's message signature for a Tron address.
 * @param signature 65 bytes of hex, with or without 0x, or 64 bytes as in EIP-2098.
 * @returns whether the address's key made it, or 'malformed'. A contract has no key, so a contract wallet (EIP-1271) cannot be proven.
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

/** With the text's length, as in TronWeb's signMessageV2() and TIP-191; and with a fixed 32, as in its older sign(). */
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
    // An impossible v, or the second of the two valid signatures for one key and text.
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

export type ProvingContext = {
  db: Queryable;
  transact: Transact;
  messages: PaymentMessages;
  logger: Logger;
  publicBaseUrl: string;
  /** Ids of the enabled networks. */
  networks: readonly string[];
};

/** `address` is canonical. */
type Claim = { address: string; merchantId: string };

/**
 * Opens a challenge for a merchant and a wallet; the previous one becomes void.
 * @throws HttpError 404 for a merchant that payments does not know.
 */
export async function challengeWallet(
  { db, publicBaseUrl }: Pick<ProvingContext, 'db' | 'publicBaseUrl'>,
  claim: Claim,
): Promise<{ text: string; ends_at: Date }> {
  const challenge = await openChallenge(db, { ...claim, nonce: randomBytes(16).toString('hex') });
  if (challenge === null) throw new HttpError(404, 'Merchant not found');
  return { text: textOf(challenge, claim, publicBaseUrl), ends_at: challenge.ends_at };
}

/**
 * Makes a wallet belong to the merchant whose challenge was signed with the wallet's key, no matter who owned it before: the signed text
 * names the merchant, so the newest proof is what the key's owner wants (docs/adr/0048). Other merchants' PENDING payments on it are
 * cancelled; CHECKING and PAID ones stay. All challenges of the wallet become void, so that no older text can take it back.
 * @throws HttpError 409 without an open challenge, 422 for a malformed signature or another key's; then nothing changes.
 */
export async function proveWallet(
  context: ProvingContext,
  claim: Claim,
  { signature, author }: { signature: string; author: Author },
): Promise<Proof> {
  const { transact, messages, publicBaseUrl, networks } = context;
  const { address, merchantId } = claim;
  return transact(async (tx) => {
    // In the order in which settling takes its locks: the wallet, then its payments.
    await lockWallets(
      tx,
      networks.map((network) => ({ network, recipient: address })),
    );
    const challenges = await lockChallenges(tx, address);
    const challenge = requireOpen(challenges.find((one) => one.merchant_id === merchantId));
    const text = textOf(challenge, claim, publicBaseUrl);
    requireSigned(text, address, signature);
    await deleteChallenges(tx, address);
    const owner = await lockOwner(tx, address, merchantId);
    // With bound wallets, only the owner can have a creation running.
    if (owner !== merchantId) await lockGate(tx, owner);
    const provenAt = await markProven(tx, address, merchantId);
    const cancelled = await cancelOthersOnWallet(tx, { ...claim, networks }, provenAt);
    await settleOpen({ ...context, tx }, cancelled);
    for (const payment of cancelled) await messages.sendClosed(tx, payment, 'CANCELLED', provenAt);
    const proof: Proof = {
      ...{ address, merchant_id: merchantId, taken_from: owner === merchantId ? null : owner },
      ...{ cancelled_payments: cancelled.length, signed_text: text, signature, ...author, proven_at: provenAt },
    };
    await insertProof(tx, proof);
    return proof;
  });
}

const textOf = (challenge: Challenge, { address, merchantId }: Claim, publicBaseUrl: string): string =>
  textToSign({ deployment: publicBaseUrl, merchantId, address, nonce: challenge.nonce, endsAt: challenge.ends_at });

function requireOpen(challenge: Challenge | undefined): Challenge {
  if (challenge === undefined)
    throw new HttpError(
      409,
      'No challenge of this merchant for this wallet is open: each can be used once, and a new one or a proof ends it',
    );
  if (challenge.is_over)
    throw new HttpError(409, `The challenge ended at ${challenge.ends_at.toISOString()}: have a new one signed`);
  return challenge;
}

function requireSigned(text: string, address: string, signature: string): void {
  const result = checkSignature(text, address, signature);
  if (result === 'malformed')
    throw invalid({ field: 'signature', reason: 'is no signature: 65 bytes in hexadecimal are expected' });
  if (result === 'other_key')
    throw invalid({
      field: 'signature',
      reason: `was not made over the open challenge with the key of ${address}; wallets that are contracts (EIP-1271) cannot be proven`,
    });
}
