import type { Block, Log } from '../rpc/answers.ts';
import { nullIfFailed, RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlockAt, readBlocksAt, readFinalized, readHead, readLogsAbove } from '../rpc/reads.ts';
import { looksCutOff, requireComplete } from './block-events.ts';
import type { BlockHead, LocalChain } from './local-chain.ts';
import type { ChainNetwork } from './networks.ts';
import { isWatchedTransfer, matchTransfers, requireSuccessor, type BlockLogs } from './read-blocks.ts';
import { filterable, groupByBlock } from './read-range.ts';
import { findDeprecation, tokenEvents, transferFilter, type Deprecation, type Transfer } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** Up to this far from the head, blocks are read one by one, by hash. Farther back, final blocks are read in ranges. */
export const NEAR_HEAD_BLOCKS = 32;

/** The blocks that are expected above our tip, so that their events are requested together with the head. */
export type Expected = {
  /** Whether there may be several blocks. Then only the last one, and those with a transfer to a watched wallet, are stored. */
  several: boolean;
  /** If there are more blocks than this, they are read in another way. */
  maxBlocks: number;
  /** Only transfers to these wallets (20-byte hex) are requested, if the chain's nodes can filter reliably; null for every transfer. */
  wallets: readonly string[] | null;
};

type AheadContext = {
  network: ChainNetwork;
  chain: Pick<LocalChain, 'tip'>;
  watches: Pick<WatchSet, 'has'>;
  asksFinality: boolean;
};

/** `reading`: the blocks above our tip; null when they have to be read one by one. */
export type Ahead = { head: Block; tagged: Block | null; reading: AheadReading | null };
type AheadReading = { blocksToStore: Block[]; transfers: Transfer[]; deprecation: Deprecation | null };

/**
 * Reads the head and the events above our tip with one request.
 *
 * With several blocks, the same batch also asks for the block at our tip's height, which proves that our tip is still in the chain. A block
 * that shows a transfer to a watched wallet is requested again by its height, together with the last one. That the other blocks have no such
 * transfer is proved only when they are final and are read a second time.
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function readAhead(rpc: RpcProvider, context: AheadContext, expected: Expected): Promise<Ahead> {
  const { network, asksFinality } = context;
  const { wallets } = expected;
  const tip = context.chain.tip();
  const [ours, head, tagged, logs] = await Promise.all([
    expected.several ? readBlockAt(rpc, tip.number) : null,
    readHead(rpc),
    asksFinality ? readFinalized(rpc) : null,
    // Null when the node refuses, or has not got that far.
    wallets?.length === 0 ? [] : nullIfFailed(readLogsAbove(rpc, tip.number, transferFilter(network, wallets))),
  ]);
  const count = head.number - tip.number;
  const isLinked = count === 1 ? head.parentHash === tip.hash : ours?.hash === tip.hash;
  const isUsable = count >= 1 && count <= expected.maxBlocks && isLinked && logs !== null && !looksCutOff(logs);
  if (!isUsable) return { head, tagged, reading: null };
  // A block may have come between the two answers.
  const shown = groupByBlock(logs.filter(({ blockNumber }) => blockNumber <= head.number));
  const atHead = shown.get(head.number)?.block.hash;
  if (atHead !== undefined && atHead !== head.hash) return { head, tagged, reading: null };
  const reading = await (count === 1
    ? readOne(rpc, context, head, shown.get(head.number)?.logs ?? [])
    : readSeveral(rpc, context, head, { entries: [...shown.values()], isWhole: wallets === null }));
  return { head, tagged, reading };
}

async function readOne(
  rpc: RpcProvider,
  { network, chain, watches }: AheadContext,
  head: Block,
  logs: readonly Log[],
): Promise<AheadReading> {
  requireSuccessor(head, chain.tip());
  const whole = await requireComplete(rpc, network, { block: head, logs: tokenEvents(network, logs) }, true);
  const transfers = await matchTransfers(rpc, network, [whole], watches);
  return { blocksToStore: [head], transfers, deprecation: findDeprecation(network.token, [whole]) };
}

async function readSeveral(
  rpc: RpcProvider,
  { network, chain, watches }: AheadContext,
  head: Block,
  { entries, isWhole }: { entries: readonly BlockLogs[]; isWhole: boolean },
): Promise<AheadReading | null> {
  const matched = entries.filter(({ logs }) => logs.some((log) => isWatchedTransfer(network, watches, log)));
  const headers = await readMatched(rpc, matched, head);
  if (headers === null) return null;
  requireAscending([chain.tip(), ...headers]);
  const known = new Map(headers.map((header) => [header.hash, header]));
  const whole = matched.map(({ block, logs }) => ({ block: known.get(block.hash) ?? block, logs }));
  const transfers = await matchTransfers(rpc, network, whole, watches, isWhole);
  return { blocksToStore: headers, transfers, deprecation: findDeprecation(network.token, entries) };
}

/** The headers of these blocks and of the head, ascending; null when one of them is not (or no longer) in the node's chain. */
async function readMatched(rpc: RpcProvider, matched: readonly BlockLogs[], head: Block): Promise<Block[] | null> {
  if (matched.length === 0) return [head];
  const wanted = new Map([...matched.map(({ block }) => block), head].map(({ number, hash }) => [number, hash]));
  const numbers = [...wanted.keys()].sort((a, b) => a - b);
  const headers = (await readBlocksAt(rpc, numbers)).filter((block) => block !== null);
  const areSame = headers.length === numbers.length && headers.every(({ number, hash }) => wanted.get(number) === hash);
  return areSame ? headers : null;
}

/** @throws RpcError `invalid_answer` when neighbours are not linked, or time goes back. */
function requireAscending(blocks: readonly ((Pick<Block, 'parentHash'> & BlockHead) | BlockHead)[]): void {
  for (const [position, block] of blocks.entries()) {
    const below = blocks[position - 1];
    if (below === undefined) continue;
    if ('parentHash' in block && block.number === below.number + 1) requireSuccessor(block, below);
    if (block.timestamp < below.timestamp)
      throw new RpcError('invalid_answer', 'a block that is older than one before it');
  }
}

/** What a look will probably find. */
export type Expectation = 'one' | 'several' | 'perhaps none';

/**
 * What to request together with the head.
 * @param look.isAwake whether a payment waits on the network.
 * @returns null for nothing.
 */
export function expectedAbove(
  { mayHoldTransfer, max_block_range: maxBlocks }: Pick<ChainNetwork, 'mayHoldTransfer' | 'max_block_range'>,
  watches: Pick<WatchSet, 'size' | 'addresses'>,
  { expects, isAwake }: { expects: Expectation; isAwake: boolean },
): Expected | null {
  if (expects === 'several' && !isAwake) {
    // No payment waits for what such an answer might hide, and it is a fraction of all transfers of a minute.
    return { several: true, maxBlocks, wallets: filterable(watches) };
  }
  if (expects === 'several') return { several: true, maxBlocks: NEAR_HEAD_BLOCKS, wallets: null };
  // If headers have no Bloom filter, a block's events are always needed.
  const isWorthIt = expects === 'one' && mayHoldTransfer === null;
  return isWorthIt ? { several: false, maxBlocks: 1, wallets: null } : null;
}
