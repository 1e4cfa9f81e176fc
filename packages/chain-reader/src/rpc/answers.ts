import { RpcError } from './errors.ts';

/** The few fields of a block that we use. Others are ignored: Tron fills several with "0x". */
export type Block = {
  number: number;
  /** 0x and 64 lowercase hex characters, like every hash here. */
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** 0x and 512 hex characters. All zero on Tron. */
  logsBloom: string;
  /** Hashes of its transactions. */
  transactions: string[];
};

/** One event of a transaction. All hex is lowercase. */
export type Log = {
  address: string;
  topics: string[];
  data: string;
  blockHash: string;
  blockNumber: number;
  transactionHash: string;
  /** Position in the whole block, which differs from the position in the receipt. */
  logIndex: number;
};

export type Receipt = {
  transactionHash: string;
  blockHash: string;
  blockNumber: number;
  succeeded: boolean;
  logs: Log[];
  /** As the node sent it. Only its `logs` are checked. */
  answer: unknown;
};

/** @throws RpcError `invalid_answer`, like every function in this file. */
export function parseBlock(value: unknown): Block {
  const block = object(value, 'block');
  return {
    number: quantity(block['number'], 'block.number'),
    hash: hex(block['hash'], 32, 'block.hash'),
    parentHash: hex(block['parentHash'], 32, 'block.parentHash'),
    timestamp: timestamp(block['timestamp'], 'block.timestamp'),
    logsBloom: hex(block['logsBloom'], 256, 'block.logsBloom'),
    transactions: transactionHashes(block['transactions']),
  };
}

/** Some nodes send whole transactions although only hashes were requested. */
function transactionHashes(value: unknown): string[] {
  if (!Array.isArray(value)) throw invalid('block.transactions');
  return value.map((entry: unknown) => {
    const hash = typeof entry === 'object' && entry !== null ? (entry as { hash?: unknown }).hash : entry;
    return hex(hash, 32, 'block.transactions');
  });
}

export function parseLogs(value: unknown): Log[] {
  if (!Array.isArray(value)) throw invalid('logs');
  return value.map(logParser());
}

export function parseReceipt(value: unknown): Receipt {
  const receipt = object(value, 'receipt');
  const transactionHash = hex(receipt['transactionHash'], 32, 'receipt.transactionHash');
  return {
    transactionHash,
    blockHash: hex(receipt['blockHash'], 32, 'receipt.blockHash'),
    blockNumber: quantity(receipt['blockNumber'], 'receipt.blockNumber'),
    succeeded: hasSucceeded(receipt),
    logs: eventsOf(transactionHash, parseLogs(receipt['logs'])),
    answer: value,
  };
}

/** The recipient of a transaction, and whether it moves the chain's own coin. `to` is null when it creates a contract. */
export type TransactionAnswer = { hash: string; to: string | null; movesCoin: boolean };

export function parseTransaction(value: unknown): TransactionAnswer {
  const transaction = object(value, 'transaction');
  const { to } = transaction;
  return {
    hash: hex(transaction['hash'], 32, 'transaction.hash'),
    to: typeof to === 'string' && to.length > 2 ? hex(to, 20, 'transaction.to') : null,
    movesCoin: /[1-9a-f]/.test(bytes(transaction['value'], 'transaction.value').slice(2)),
  };
}

/** An event's position in its receipt identifies it forever. Foreign, unordered or repeated events would make that position wrong. */
function eventsOf(transactionHash: string, logs: Log[]): Log[] {
  const areInPlace = logs.every((log, position) => {
    const isNext = log.logIndex > (logs[position - 1]?.logIndex ?? -1);
    return isNext && log.transactionHash === transactionHash;
  });
  if (!areInPlace) throw invalid('receipt.logs');
  return logs;
}

/** Before Ethereum's Byzantium fork (EIP-658), a receipt has a state root instead of a status. Failed transactions then have no events. */
function hasSucceeded({ status, root }: Record<string, unknown>): boolean {
  if (status !== undefined || root === undefined) return quantity(status, 'receipt.status') === 1;
  hex(root, 32, 'receipt.root');
  return true;
}

/** A hex number such as a block height or a chain id, small enough to be exact. */
export function quantity(value: unknown, field: string): number {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,14}$/.test(value)) throw invalid(field);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalid(field);
  return number;
}

/** The end of the year 9999. RFC 3339 and the database cannot express a later time, such as one in milliseconds. */
const MAX_TIMESTAMP = 253_402_300_799;

function timestamp(value: unknown, field: string): number {
  const seconds = quantity(value, field);
  if (seconds > MAX_TIMESTAMP) throw invalid(field);
  return seconds;
}

/** A parser for the events of one answer. Most come from the same contract and block as the previous event. */
function logParser(): (value: unknown) => Log {
  const address = memoizeLast((value) => hex(value, 20, 'log.address'));
  const event = memoizeLast((value) => hex(value, 32, 'log.topics'));
  const blockHash = memoizeLast((value) => hex(value, 32, 'log.blockHash'));
  const blockNumber = memoizeLast((value) => quantity(value, 'log.blockNumber'));
  const topic = (value: unknown, position: number) => (position === 0 ? event(value) : hex(value, 32, 'log.topics'));
  return (value) => {
    const log = object(value, 'log');
    const topics = log['topics'];
    if (!Array.isArray(topics) || topics.length > 4) throw invalid('log.topics');
    // True when a reorg removed the log. Only subscriptions may report that.
    if (log['removed'] === true) throw invalid('log.removed');
    return {
      address: address(log['address']),
      topics: topics.map(topic),
      data: bytes(log['data'], 'log.data'),
      blockHash: blockHash(log['blockHash']),
      blockNumber: blockNumber(log['blockNumber']),
      transactionHash: hex(log['transactionHash'], 32, 'log.transactionHash'),
      logIndex: quantity(log['logIndex'], 'log.logIndex'),
    };
  };
}

/** Checks a value only when it differs from the previous one. That saves a third of the time to parse a long answer. */
function memoizeLast<T>(check: (value: unknown) => T): (value: unknown) => T {
  let last: { value: unknown; checked: T } | null = null;
  return (value) => {
    if (last === null || last.value !== value) last = { value, checked: check(value) };
    return last.checked;
  };
}

function hex(value: unknown, lengthBytes: number, field: string): string {
  const text = bytes(value, field);
  if (text.length !== 2 + 2 * lengthBytes) throw invalid(field);
  return text;
}

function bytes(value: unknown, field: string): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) throw invalid(field);
  return value.toLowerCase();
}

function object(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(field);
  return value as Record<string, unknown>;
}

function invalid(field: string): RpcError {
  return new RpcError('invalid_answer', `${field} is missing or malformed`);
}
