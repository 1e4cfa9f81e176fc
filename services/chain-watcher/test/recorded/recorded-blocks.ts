import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sealBlock } from '../../../../packages/chain-reader/test/receipts/seal-block.ts';
import { bloomOf } from './bloom-of.ts';

export type RawLog = Record<string, unknown> & {
  address: string;
  topics: string[];
  data: string;
  blockHash: string;
  blockNumber: string;
  transactionHash: string;
  logIndex: string;
};
export type RawReceipt = Record<string, unknown> & { transactionHash: string; logs: RawLog[] };
export type RawHeader = Record<string, unknown> & {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  logsBloom: string;
  transactions: string[];
};

/** A block as it was recorded, whole or with some of its transactions. */
export type RecordedBlock = {
  number: number;
  hash: string;
  /** Null when it is not known. */
  parentHash: string | null;
  header: Record<string, unknown> | null;
  transactions: { hash: string }[];
  /** For all or some of the transactions. The others have no events. */
  receipts: RawReceipt[];
};

/** Blocks by network, from the file `blocks.json.gz` of a directory. */
export async function loadRecordedBlocks(directory: string): Promise<Record<string, RecordedBlock[]>> {
  const file = gunzipSync(await readFile(join(directory, 'blocks.json.gz')));
  return JSON.parse(file.toString()) as Record<string, RecordedBlock[]>;
}

/** A block at its place in the served chain. */
export type ServedBlock = { header: RawHeader; receipts: RawReceipt[]; isRecorded: boolean };

export type RecordedChain = {
  blocks: Map<number, ServedBlock>;
  first: number;
  /** Height of the last recorded block. */
  top: number;
  last: number;
};

/** Made-up blocks between two recorded ones, and below and above all of them: enough for every network to start and to confirm. */
const [BETWEEN, BELOW, ABOVE] = [2, 70, 48];

/**
 * A chain in which the recorded blocks lie close together. The last one keeps its height; a block in between has the hash that the next one
 * names as its parent. The newest block came now, and each other one `blockSeconds` before the next.
 * @param options.isProven whether hashes and receipts roots are computed again, so that they fit the moved blocks.
 */
export function chainOf(
  recorded: readonly RecordedBlock[],
  { blockSeconds, hasBloom, isProven }: { blockSeconds: number; hasBloom: boolean; isProven: boolean },
): RecordedChain {
  const sorted = recorded.toSorted((a, b) => a.number - b.number);
  const line: (RecordedBlock | null)[] = Array.from({ length: BELOW }, () => null);
  for (const block of sorted) {
    const below = line.at(-1);
    const isNext = below?.hash !== undefined && below.hash === block.parentHash;
    if (!isNext) line.push(...Array.from({ length: BETWEEN }, () => null));
    line.push(block);
  }
  const top = sorted.at(-1)?.number ?? 0;
  const first = top - line.length + 1;
  line.push(...Array.from({ length: ABOVE }, () => null));
  const last = top + ABOVE;
  const now = Math.floor(Date.now() / 1000);
  const hashes = line.map((block, at) => block?.hash ?? line[at + 1]?.parentHash ?? madeUpHash(first + at));
  const blocks = new Map<number, ServedBlock>();
  for (const [at, block] of line.entries()) {
    const number = first + at;
    const place = {
      number: hexOf(number),
      hash: hashes[at] ?? '',
      parentHash: hashes[at - 1] ?? madeUpHash(first - 1),
    };
    const timestamp = hexOf(now - (last - number) * blockSeconds);
    const receipts = block === null ? [] : receiptsAt(block, place.number);
    const logsBloom = hasBloom ? bloomOf(receipts.flatMap(({ logs }) => logs)) : NO_BLOOM;
    const transactions = block?.transactions.map(({ hash }) => hash) ?? [];
    const header = { ...block?.header, ...place, timestamp, logsBloom, transactions };
    const parentHash = blocks.get(number - 1)?.header.hash ?? header.parentHash;
    const shown = isProven ? sealBlock({ ...header, parentHash }, receipts) : { header, receipts };
    blocks.set(number, { ...shown, isRecorded: block !== null });
  }
  return { blocks, first, top, last };
}

/** The receipts of all its transactions, in the order of the block. */
function receiptsAt(block: RecordedBlock, blockNumber: string): RawReceipt[] {
  const known = new Map(block.receipts.map((receipt) => [receipt.transactionHash, receipt]));
  const inOrder = new Set([...block.transactions.map(({ hash }) => hash), ...known.keys()]);
  return [...inOrder].map((transactionHash): RawReceipt => {
    const receipt = known.get(transactionHash) ?? { transactionHash, status: '0x1', logs: [] };
    const logs = receipt.logs.map(({ blockTimestamp: _, ...log }) => ({ ...log, blockNumber }));
    return { ...receipt, blockHash: block.hash, blockNumber, logs };
  });
}

export const hexOf = (number: number): string => `0x${number.toString(16)}`;

const NO_BLOOM = `0x${'0'.repeat(512)}`;
const madeUpHash = (number: number): string => `0x${number.toString(16).padStart(64, 'f')}`;
