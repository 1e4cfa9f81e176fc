import { receiptInTrie } from './branch.ts';
import { bytesOf, hexOf } from './hex.ts';
import { keccak256 } from './keccak.ts';
import { readProof } from './read.ts';
import { decodeRlp, integerOf, type Rlp } from './rlp.ts';
import { tokenOfNetwork, type TokenOfNetwork } from './tokens.ts';
import type { PaymentProof } from '../types.ts';

/** What a proof has to pass, in this order. */
export type ProofStep =
  /** It is a proof of version 1. */
  | 'format'
  /** Its chain id and token are those of USDT on the payment's network. */
  | 'network'
  /** It is about the block that you trust. */
  | 'block'
  /** Its header has that block's hash, number and time. */
  | 'header'
  /** Each receipt is at its index of the header's receipts root. */
  | 'branch'
  /** Each receipt is of a transaction that succeeded. */
  | 'receipt'
  /** Each named event is a transfer of the token to the payment's wallet, and is counted once. */
  | 'transfer'
  /** Together the transfers are at least the payment's amount, or the lower one that was accepted. */
  | 'amount';

/** A proof that does not hold. `step` is the first one that failed; the message is for people and may change. */
export class ProofError extends Error {
  readonly step: ProofStep;

  constructor(step: ProofStep, message: string) {
    super(message);
    this.name = 'ProofError';
    this.step = step;
  }
}

export type ProofOptions = {
  /** The hash of the block at the proof's height, from a source that you trust: your own node, or an explorer. 64 hex characters. */
  blockHash: string;
  /** The token, for a network that Quittance does not ship. */
  token?: TokenOfNetwork;
};

/** A transfer that the chain proves. */
export type ProvedTransfer = { from: string; amountUnits: bigint; transactionIndex: number; logIndex: number };

export type ProvedPayment = {
  /** Base units of the token. */
  amountUnits: bigint;
  /** What the payment counts as paid from, if that is less than its amount; else null. */
  acceptedUnits: bigint | null;
  receivedUnits: bigint;
  transfers: ProvedTransfer[];
};

/** keccak256('Transfer(address,address,uint256)') */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Positions in a header, the same on every network. Source: Ethereum Yellow Paper, section 4.4. */
const RECEIPTS_ROOT = 5;
const NUMBER = 8;
const TIMESTAMP = 11;

/**
 * Checks offline that a payment was paid on its chain. Everything follows from the hash of one block, which you get from a source that you
 * trust. It does not prove what the chain does not contain: the payment's id, description and times. Receipts do not contain the ids of
 * their transactions either.
 * @param proof is the answer of GET /payments/{payment_id}/proof, as parsed JSON.
 * @throws ProofError with the step that failed.
 */
export function verifyProof(proof: unknown, { blockHash, token }: ProofOptions): ProvedPayment {
  const read = refuseAs('format', () => readProof(proof));
  const usdt = tokenOf(read, token);
  const { amountUnits, acceptedUnits } = refuseAs('format', () => amountsOf(read, usdt));
  const trusted = `0x${blockHash.toLowerCase().replace(/^0x/, '')}`;
  mustHold('block', read.block.hash === trusted, `the proof is about block ${read.block.hash}, not ${trusted}`);
  const receiptsRoot = refuseAs('header', () => readHeader(read));
  const transfers = read.receipts.map((receipt) => {
    const found = refuseAs('branch', () => receiptInTrie(receiptsRoot, receipt.index, receipt.nodes.map(bytesOf)));
    mustHold('branch', hexOf(found) === receipt.rlp, `index ${receipt.index} of the block has another receipt`);
    return refuseAs('receipt', () => transferIn(found, receipt.index, receipt.log_index, read));
  });
  const places = new Set(transfers.map(({ transactionIndex, logIndex }) => `${transactionIndex} ${logIndex}`));
  mustHold('transfer', places.size === transfers.length, 'an event is counted twice');
  const receivedUnits = transfers.reduce((sum, transfer) => sum + transfer.amountUnits, 0n);
  const enough = acceptedUnits ?? amountUnits;
  mustHold('amount', receivedUnits >= enough, `${receivedUnits} of ${enough} base units were received`);
  return { amountUnits, acceptedUnits, receivedUnits, transfers };
}

function tokenOf({ payment, chain_id, token }: PaymentProof, given: TokenOfNetwork | undefined): TokenOfNetwork {
  const expected =
    given ?? (Object.hasOwn(tokenOfNetwork, payment.network) ? tokenOfNetwork[payment.network] : undefined);
  if (expected === undefined)
    throw new ProofError('network', `the USDT of network ${payment.network} is not known here: give its token`);
  mustHold('network', chain_id === expected.chainId, `chain ${chain_id} is not ${payment.network}`);
  mustHold('network', token === expected.address.toLowerCase(), `${token} is not the USDT of ${payment.network}`);
  return expected;
}

/** @returns the receipts root. */
function readHeader({ block }: PaymentProof): Uint8Array {
  const bytes = bytesOf(block.header);
  mustHold('header', hexOf(keccak256(bytes)) === block.hash, 'the header does not have the hash of the block');
  const header = decodeRlp(bytes);
  const [root, number, timestamp] = [RECEIPTS_ROOT, NUMBER, TIMESTAMP].map((field) => header[field]);
  if (!(root instanceof Uint8Array && number instanceof Uint8Array && timestamp instanceof Uint8Array))
    throw new ProofError('header', 'the header has no receipts root, number or time');
  mustHold('header', integerOf(number) === BigInt(block.number), `the header is of block ${integerOf(number)}`);
  const seconds = Date.parse(block.timestamp) / 1_000;
  mustHold('header', Number(integerOf(timestamp)) === seconds, `the header is of another time than ${block.timestamp}`);
  return root;
}

/** @param bytes are a receipt's: a list, behind one byte for its type unless it is of the first kind. Source: EIP-2718. */
function transferIn(bytes: Uint8Array, index: number, logIndex: number, proof: PaymentProof): ProvedTransfer {
  const [status, , , logs] = decodeRlp(bytes.subarray(hasType(bytes) ? 1 : 0)) as Rlp[];
  const succeeded = status instanceof Uint8Array && hexOf(status) === '0x01';
  mustHold('receipt', succeeded, `the transaction at index ${index} of the block did not succeed`);
  const log = Array.isArray(logs) ? logs[logIndex] : undefined;
  const [address, topics, data] = (log ?? []) as [Uint8Array?, Uint8Array[]?, Uint8Array?];
  const named = `event ${logIndex} of the transaction at index ${index}`;
  if (address === undefined || topics === undefined || data === undefined)
    throw new ProofError('transfer', `there is no ${named}`);
  const [topic, from = '', to] = topics.map(hexOf);
  const isTransfer = topics.length === 3 && topic === TRANSFER_TOPIC && data.length === 32;
  mustHold('transfer', isTransfer && hexOf(address) === proof.token, `${named} is no transfer of the token`);
  const isPayment = to === wordOf(proof.payment.merchant_wallet) && integerOf(data) > 0n;
  mustHold('transfer', isPayment, `${named} pays nothing to ${proof.payment.merchant_wallet}`);
  return { from: `0x${from.slice(26)}`, amountUnits: integerOf(data), transactionIndex: index, logIndex };
}

const hasType = ([first = 0]: Uint8Array): boolean => first < 0x80;

/** An address as a topic: 32 bytes. */
const wordOf = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;

function amountsOf({ payment }: PaymentProof, { decimals }: TokenOfNetwork) {
  const { amount, accepted_amount: accepted } = payment;
  const amountUnits = unitsOf(amount, decimals);
  const acceptedUnits = accepted === undefined ? null : unitsOf(accepted, decimals);
  if (acceptedUnits !== null && acceptedUnits >= amountUnits)
    throw new RangeError(`accepted_amount ${accepted} is not less than ${amount}`);
  return { amountUnits, acceptedUnits };
}

function unitsOf(amount: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  if (fraction.length > decimals) throw new RangeError(`${amount} has more than ${decimals} decimals`);
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

function mustHold(step: ProofStep, holds: boolean, message: string): void {
  if (!holds) throw new ProofError(step, message);
}

function refuseAs<Result>(step: ProofStep, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof ProofError ? error : new ProofError(step, (error as Error).message);
  }
}
