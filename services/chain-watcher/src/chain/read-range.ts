import type { ChainNetwork } from '../networks.ts';
import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlocksAt, readLogsOfRange } from '../rpc/reads.ts';
import { transferTopics } from '../transfers.ts';
import { ensureComplete, requireBlocks, type BlockLogs } from './read-blocks.ts';

/** What a range of blocks holds. */
export type RangeReading = {
  first: Block;
  last: Block;
  /** The blocks with events of the token, ascending. */
  entries: BlockLogs[];
};

/**
 * The token's events of the blocks `from` to `to`. For final blocks: a range is read by height.
 * @param wallets only transfers to these (20-byte hex); null for every transfer.
 * @throws RpcError when the node lacks one of the blocks, or shows an event of a block that is not on its own chain.
 */
export async function readRange(
  rpc: RpcProvider,
  network: ChainNetwork,
  from: number,
  to: number,
  wallets: readonly string[] | null,
): Promise<RangeReading> {
  const numbers = Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
  const filter = { address: network.token, topics: transferTopics(wallets) };
  const [found, logs] = await Promise.all([readBlocksAt(rpc, numbers), readLogsOfRange(rpc, from, to, filter)]);
  const blocks = requireBlocks(found);
  const byHash = Map.groupBy(logs, (log) => log.blockHash);
  const read = blocks.map((block) => ({ block, logs: byHash.get(block.hash) ?? [] }));
  if (read.reduce((count, entry) => count + entry.logs.length, 0) !== logs.length) {
    throw new RpcError('invalid_answer', 'a log of a block outside the chain');
  }
  const entries = await Promise.all(read.map((entry) => ensureComplete(rpc, network, entry)));
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a range has at least one block');
  return { first, last, entries: entries.filter((entry) => entry.logs.length > 0) };
}
