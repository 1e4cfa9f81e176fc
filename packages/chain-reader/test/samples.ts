import type { Block, Log, Receipt } from '../src/rpc/answers.ts';
import { addressOf, hashOf } from '@quittance/testkit/chain/samples.ts';
import { TRANSFER_TOPIC } from '../src/chain/transfers.ts';

/** Samples for the unit tests. Numbers become well-formed hashes and addresses, so that a test can say "block 7". */
export const TOKEN = `0x${'aa'.repeat(20)}`;

export const topicOf = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;

export function sampleLog(changes: Partial<Log> = {}): Log {
  return {
    address: TOKEN,
    topics: [TRANSFER_TOPIC, topicOf(addressOf(1)), topicOf(addressOf(2))],
    data: hashOf(10_500_000),
    blockHash: hashOf(7),
    blockNumber: 7,
    transactionHash: hashOf(0xabc),
    logIndex: 4,
    ...changes,
  };
}

export function sampleReceipt(changes: Partial<Receipt> = {}): Receipt {
  return {
    transactionHash: hashOf(0xabc),
    blockHash: hashOf(7),
    blockNumber: 7,
    succeeded: true,
    logs: [sampleLog()],
    answer: null,
    ...changes,
  };
}

export function sampleBlock(number: number, changes: Partial<Block> = {}): Block {
  return {
    number,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: 1_700_000_000 + number,
    logsBloom: `0x${'0'.repeat(512)}`,
    transactions: [],
    ...changes,
  };
}
