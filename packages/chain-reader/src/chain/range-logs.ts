import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { BlockLogs, BlockPlace } from './read-blocks.ts';

/** What a range of blocks holds. */
export type RangeLogs = {
  first: Block;
  last: Block;
  /** The blocks with events of the token, ascending. Most of them are known only by what their events say. */
  entries: BlockLogs[];
};

/**
 * Groups events by height.
 * @throws RpcError `invalid_answer` when the events of one height belong to two blocks.
 */
export function byBlock(logs: readonly Log[]): Map<number, BlockLogs> {
  const blocks = new Map<number, BlockLogs>();
  for (const log of logs) {
    const block: BlockPlace = { number: log.blockNumber, hash: log.blockHash, timestamp: null };
    const entry = blocks.get(block.number) ?? { block, logs: [] };
    if (entry.block.hash !== block.hash) throw new RpcError('invalid_answer', 'logs of two blocks of one height');
    entry.logs.push(log);
    blocks.set(block.number, entry);
  }
  return blocks;
}

/**
 * Some nodes cut an answer off at their limit without a word, and their limits are round numbers. Asking for less after such
 * an answer costs little where it was only chance.
 */
export function requireWholeAnswer(logs: readonly Log[], from: number, to: number): void {
  if (logs.length > 0 && logs.length % 1000 === 0 && to > from)
    throw new RpcError('range', `${String(logs.length)} logs look like an answer that was cut off`);
}

/** Puts the headers that were read in the place of what only the events say. */
export function withHeaders(entries: readonly BlockLogs[], headers: readonly Block[]): BlockLogs[] {
  const known = new Map(headers.map((header) => [header.number, header]));
  return entries.map(({ block, logs }) => ({ block: known.get(block.number) ?? block, logs }));
}

/**
 * Every block of the range that we have by hash must be the node's too.
 * @param hashAt our block's hash at a height; undefined where we have none.
 * @throws RpcError `invalid_answer` when the node shows another one: it follows another fork, and nothing it says counts.
 */
export function requireOurBlocks(
  { first, last, entries }: RangeLogs,
  hashAt: (number: number) => string | undefined,
): void {
  for (const { number, hash } of [first, last, ...entries.map(({ block }) => block)]) {
    const ours = hashAt(number);
    if (ours !== undefined && ours !== hash) throw new RpcError('invalid_answer', 'the node follows another fork');
  }
}
