import type { ChainNetwork } from '../networks.ts';
import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readLogsOfBlock, readReceipt } from '../rpc/reads.ts';
import { TRANSFER_TOPIC, decodeTransfer, locateTransfer, transferTopics, type Transfer } from '../transfers.ts';
import type { WatchSet } from '../watch-set.ts';
import { coversBloom } from './bloom.ts';

/** A block and every transfer event of the token in it. */
export type BlockLogs = { block: Block; logs: Log[] };

/**
 * The token's events of these blocks, each asked for by the block's hash, so that a reorg in between cannot mix two
 * chains. At most half as many blocks as a batch has requests.
 */
export async function readLogsByHash(rpc: RpcProvider, network: ChainNetwork, blocks: Block[]): Promise<BlockLogs[]> {
  const filter = { address: network.token, topics: transferTopics(null) };
  const read = await Promise.all(
    blocks.map(async (block) => ({ block, logs: await readLogsOfBlock(rpc, block.hash, filter) })),
  );
  return Promise.all(read.map((entry) => ensureComplete(rpc, network, entry)));
}

/** @throws RpcError when a block is missing or two neighbours are not linked: the node's view changed while it answered. */
export function requireBlocks(found: readonly (Block | null)[]): Block[] {
  const blocks = found.filter((block) => block !== null);
  if (blocks.length < found.length) throw new RpcError('unknown_block', 'the node lacks a block below its own head');
  const linked = blocks.every((block, position) => position === 0 || block.parentHash === blocks[position - 1]?.hash);
  if (!linked) throw new RpcError('invalid_answer', 'blocks that do not form a chain');
  return blocks;
}

/** The transfers to watched wallets among these events, each checked against the receipt of its transaction. */
export async function matchTransfers(
  rpc: RpcProvider,
  network: ChainNetwork,
  entries: readonly BlockLogs[],
  watches: Pick<WatchSet, 'has'>,
): Promise<Transfer[]> {
  const matches = entries.flatMap(({ block, logs }) =>
    logs.flatMap((log) => {
      const decoded = decodeTransfer(network.token, log);
      return decoded !== null && watches.has(decoded.to) ? [{ decoded, block }] : [];
    }),
  );
  const hashes = [...new Set(matches.map(({ decoded }) => decoded.log.transactionHash))];
  const receipts = new Map(
    await Promise.all(hashes.map(async (hash) => [hash, await readReceipt(rpc, hash)] as const)),
  );
  return matches.flatMap(({ decoded, block }) => {
    const receipt = receipts.get(decoded.log.transactionHash);
    const transfer = receipt && locateTransfer(decoded, receipt, block.timestamp);
    return transfer ? [transfer] : [];
  });
}

/**
 * An empty answer for a block whose header says there may be transfers is not believed: all events of the block are read,
 * and they must account for the whole header.
 */
export async function ensureComplete(rpc: RpcProvider, network: ChainNetwork, entry: BlockLogs): Promise<BlockLogs> {
  const { block, logs } = entry;
  if (logs.length > 0 || !network.mayHoldTransfer?.(block.logsBloom)) return entry;
  const all = await readLogsOfBlock(rpc, block.hash, null);
  if (!coversBloom(all, block.logsBloom)) throw new RpcError('invalid_answer', 'events are missing from a block');
  return { block, logs: all.filter((log) => log.address === network.token && log.topics[0] === TRANSFER_TOPIC) };
}
