import { RpcError } from './errors.ts';

/** The few fields of a block that we rely on. Others are not even looked at: Tron fills several with "0x". */
export type Block = {
  number: number;
  /** 0x and 64 lowercase hex characters, like every hash here. */
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** 0x and 512 hex characters. All zero on Tron. */
  logsBloom: string;
};

/** One event of a transaction. All hex is lowercase. */
export type Log = {
  address: string;
  topics: string[];
  data: string;
  blockHash: string;
  blockNumber: number;
  transactionHash: string;
  /** Position in the whole block; the position in the receipt is another number. */
  logIndex: number;
};

export type Receipt = {
  transactionHash: string;
  blockHash: string;
  blockNumber: number;
  succeeded: boolean;
  logs: Log[];
};

/** @throws RpcError `invalid_answer`, like every function of this file. */
export function parseBlock(value: unknown): Block {
  const block = object(value, 'block');
  return {
    number: quantity(block['number'], 'block.number'),
    hash: hex(block['hash'], 32, 'block.hash'),
    parentHash: hex(block['parentHash'], 32, 'block.parentHash'),
    timestamp: quantity(block['timestamp'], 'block.timestamp'),
    logsBloom: hex(block['logsBloom'], 256, 'block.logsBloom'),
  };
}

export function parseLogs(value: unknown): Log[] {
  if (!Array.isArray(value)) throw invalid('logs');
  return value.map(parseLog);
}

export function parseReceipt(value: unknown): Receipt {
  const receipt = object(value, 'receipt');
  return {
    transactionHash: hex(receipt['transactionHash'], 32, 'receipt.transactionHash'),
    blockHash: hex(receipt['blockHash'], 32, 'receipt.blockHash'),
    blockNumber: quantity(receipt['blockNumber'], 'receipt.blockNumber'),
    succeeded: quantity(receipt['status'], 'receipt.status') === 1,
    logs: parseLogs(receipt['logs']),
  };
}

/** A hex number such as block heights and chain ids, small enough to be exact. */
export function quantity(value: unknown, field: string): number {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,14}$/.test(value)) throw invalid(field);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalid(field);
  return number;
}

function parseLog(value: unknown): Log {
  const log = object(value, 'log');
  const topics = log['topics'];
  if (!Array.isArray(topics) || topics.length > 4) throw invalid('log.topics');
  // A node says so when a reorg took the log back; it must not appear in answers to a question.
  if (log['removed'] === true) throw invalid('log.removed');
  return {
    address: hex(log['address'], 20, 'log.address'),
    topics: topics.map((topic) => hex(topic, 32, 'log.topics')),
    data: bytes(log['data'], 'log.data'),
    blockHash: hex(log['blockHash'], 32, 'log.blockHash'),
    blockNumber: quantity(log['blockNumber'], 'log.blockNumber'),
    transactionHash: hex(log['transactionHash'], 32, 'log.transactionHash'),
    logIndex: quantity(log['logIndex'], 'log.logIndex'),
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
