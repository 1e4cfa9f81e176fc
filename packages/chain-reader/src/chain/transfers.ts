import type { ReceiptProof } from './proven-block.ts';
import type { Log, Receipt } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { LogFilter } from '../rpc/reads.ts';

/** keccak256 of "Transfer(address,address,uint256)": the first topic of every token transfer. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** keccak256 of "Deprecate(address)". */
export const DEPRECATE_TOPIC = '0xcc358699805e9a8b7f77b522628c7cb9abd07d9efb86b6fb616af1609036a99e';
const EVENT_TOPICS = [TRANSFER_TOPIC, DEPRECATE_TOPIC];

/** A token transfer as its event shows it, before it is known whether its transaction succeeded. */
export type DecodedTransfer = {
  /** 20 bytes as 0x and 40 lowercase hex characters, on Tron as well. */
  from: string;
  to: string;
  /** Base units of the token; always above zero. */
  amountUnits: bigint;
  log: Log;
};

/** A transfer of a transaction that succeeded, with its place in the chain. */
export type Transfer = Omit<DecodedTransfer, 'log'> & {
  /** 64 lowercase hex characters, no 0x. */
  transactionId: string;
  /** Position of the event in its receipt's full list, from 0. */
  transactionEventIndex: number;
  blockNumber: number;
  blockHash: string;
  /** Unix seconds. */
  blockTimestamp: number;
  /** Absent where the block's hash does not prove it, and when the transfer was read from our own store. */
  proof?: ReceiptProof;
};

const ADDRESS_PADDING = '0'.repeat(24);

/**
 * The recipient of a transfer. This is a cheap first test, because few of thousands of events matter.
 * @returns null for anything that decodeTransfer() refuses, except a zero amount.
 */
export function recipientOf(token: string, log: Log): string | null {
  const [topic, from, to] = log.topics;
  if (log.address !== token || log.topics.length !== 3 || topic !== TRANSFER_TOPIC) return null;
  if (log.data.length !== 66 || from === undefined || to === undefined) return null;
  return isPaddedAddress(from) && isPaddedAddress(to) ? unpad(to) : null;
}

/** The recipient of a transfer event of any contract; null for other events. */
export function movedTo({ topics: [topic, , to] }: Pick<Log, 'topics'>): string | null {
  return topic === TRANSFER_TOPIC && to !== undefined && isPaddedAddress(to) ? unpad(to) : null;
}

/**
 * Reads an event as a transfer of the token.
 * @returns null for anything else: another contract (a look-alike token), another number of topics, data of another length, an invalid
 *   address, or a zero amount ("address poisoning" sends those so that wallets list a look-alike sender).
 */
export function decodeTransfer(token: string, log: Log): DecodedTransfer | null {
  const to = recipientOf(token, log);
  const [, from] = log.topics;
  if (to === null || from === undefined) return null;
  const amountUnits = BigInt(log.data);
  if (amountUnits === 0n) return null;
  return { from: unpad(from), to, amountUnits, log };
}

/**
 * Finds a decoded transfer in the receipt of its transaction.
 * @returns null when the transaction failed: Tron nodes return the events of failed transactions, too.
 * @throws RpcError `invalid_answer` when the receipt belongs to another block or does not contain exactly this event.
 */
export function locateTransfer(decoded: DecodedTransfer, receipt: Receipt, blockTimestamp: number): Transfer | null {
  const { log, ...transfer } = decoded;
  if (receipt.blockHash !== log.blockHash || receipt.blockNumber !== log.blockNumber)
    throw new RpcError('invalid_answer', 'the receipt belongs to a different block than the log');
  if (!receipt.succeeded) return null;
  const position = receipt.logs.findIndex((candidate) => candidate.logIndex === log.logIndex);
  const found = receipt.logs[position];
  if (found === undefined || !isSameEvent(found, log)) {
    throw new RpcError('invalid_answer', 'the receipt does not contain the log of its own transaction');
  }
  return {
    ...transfer,
    transactionId: log.transactionHash.slice(2),
    transactionEventIndex: position,
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
    blockTimestamp,
  };
}

type Token = { family: 'evm' | 'tron'; token: string };

/**
 * The filter for eth_getLogs.
 * @param wallets only transfers to these wallets (20-byte hex); null for every transfer of the token, and its deprecation at no extra call.
 * @returns null for every event. Tron's nodes look addresses and topics up in an index that may be incomplete, and then silently leave
 *   events out, so only a query without a filter is exact.
 */
export function transferFilter({ family, token }: Token, wallets: readonly string[] | null): LogFilter | null {
  if (family === 'tron') return null;
  const recipients = wallets?.map((wallet) => `0x${ADDRESS_PADDING}${wallet.slice(2)}`);
  return { address: token, topics: recipients === undefined ? [EVENT_TOPICS] : [TRANSFER_TOPIC, null, recipients] };
}

/** The token's transfers, including those that move nothing, and its deprecation. */
export function tokenEvents({ token }: Pick<Token, 'token'>, logs: readonly Log[]): Log[] {
  return logs.filter(({ address, topics: [topic = ''] }) => address === token && EVENT_TOPICS.includes(topic));
}

/** Whether two events have the same content, wherever they are in their transaction. */
export function isSameEvent(a: Log, b: Log): boolean {
  return (
    a.address === b.address &&
    a.data === b.data &&
    a.transactionHash === b.transactionHash &&
    a.topics.length === b.topics.length &&
    a.topics.every((topic, position) => topic === b.topics[position])
  );
}

function isPaddedAddress(topic: string): boolean {
  return topic.startsWith(ADDRESS_PADDING, 2);
}

function unpad(topic: string): string {
  return `0x${topic.slice(26)}`;
}

/**
 * The token's owner has replaced the contract with another one, as Tether's older contracts on Ethereum and Tron allow. From then on the old
 * contract forwards calls, and transfers may have their events in another contract.
 */
export type Deprecation = {
  /** 64 lowercase hex characters, no 0x. */
  transactionId: string;
  blockNumber: number;
  /** Address of the new contract, 20 bytes as 0x and lowercase hex; null when the event has none. */
  successor: string | null;
};

/** @returns the first deprecation among these events of the token; nearly always null. */
export function findDeprecation(token: string, entries: readonly { logs: readonly Log[] }[]): Deprecation | null {
  for (const { logs } of entries) {
    const log = logs.find(({ address, topics }) => address === token && topics[0] === DEPRECATE_TOPIC);
    if (log !== undefined) {
      const { transactionHash, blockNumber } = log;
      return { transactionId: transactionHash.slice(2), blockNumber, successor: successorIn(log) };
    }
  }
  return null;
}

/** The deployed contracts do not index the address, but a copy might. */
function successorIn({ topics: [, indexed], data }: Log): string | null {
  const [, address] = /^0x0{24}([0-9a-f]{40})$/.exec(indexed ?? data) ?? [];
  return address === undefined ? null : `0x${address}`;
}
