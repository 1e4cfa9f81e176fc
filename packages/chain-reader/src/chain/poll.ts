import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlockAt, readBlocksAt, readFinalized, readHead, readLogsOfRange } from '../rpc/reads.ts';
import { finalizedHeight } from './finality.ts';
import { findFork, type Fork } from './fork.ts';
import type { LocalChain } from './local-chain.ts';
import type { ChainNetwork } from './networks.ts';
import { matchTransfers, readLogsByHash, requireLinked, requireSuccessor } from './read-blocks.ts';
import { requireWholeAnswer } from './read-range.ts';
import { transferFilter, type Transfer } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** What a poll of a node's chain has found. Nothing in it is stored yet. */
export type PollResult =
  | { kind: 'no_new_blocks'; head: number }
  | {
      kind: 'blocks';
      head: number;
      /** Height up to which the chain is final to this node. */
      finalized: number;
      /** Blocks right above our tip, ascending: all of them near the head, only the last one of a final range. */
      blocksToStore: Block[];
      transfers: Transfer[];
    }
  | { kind: 'fork'; head: number; fork: Fork }
  /** So far behind that blocks are read in ranges, up to the block `finalized`. */
  | { kind: 'needs_catch_up'; head: number; finalized: number };

export type PollContext = {
  network: ChainNetwork;
  chain: LocalChain;
  watches: Pick<WatchSet, 'has' | 'size' | 'addresses'>;
  /** Height below which nothing may change any more. */
  finalized: number;
  /** Most blocks to read at once. */
  maxBlocks: number;
};

/** This far from the head, blocks are read one by one by hash; farther back, final ones in ranges. */
export const NEAR_HEAD_BLOCKS = 32;

/**
 * Reads the blocks above our tip, or finds the fork where the node's chain leaves ours. When nothing is new it costs one small request.
 * @param expected how many new blocks are likely to be there. They are requested together with the head, which saves a round trip
 *   when they are there, and is wasted when they are not.
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function poll(rpc: RpcProvider, context: PollContext, expected = 0): Promise<PollResult> {
  const { chain, network } = context;
  const tip = chain.tip();
  const ahead = await readAhead(rpc, network, tip.number, expected);
  const { head } = ahead;
  if (head.hash === tip.hash) return { kind: 'no_new_blocks', head: head.number };
  if (head.number <= tip.number) {
    // A replica that lags shows an old head of our own chain; only another block at the same height is a fork.
    const ours = chain.hashAt(head.number);
    if (ours === undefined || ours === head.hash) return { kind: 'no_new_blocks', head: head.number };
    return detectFork(rpc, context, head);
  }
  if (head.number - tip.number > NEAR_HEAD_BLOCKS) {
    const finalized = finalizedHeight(network, head.number, await readFinalized(rpc));
    // A node can invent heights at no cost, and every endpoint would then be asked for ranges up to there.
    if (finalized > tip.number && (await readBlockAt(rpc, finalized)) === null)
      throw new RpcError('unknown_block', 'the node lacks the block that it calls final');
    if (finalized > tip.number) return { kind: 'needs_catch_up', head: head.number, finalized };
  }
  return readNearHead(rpc, context, ahead);
}

/** For a caller that has seen a block which does not belong to our chain. */
export async function detectFork(rpc: RpcProvider, context: PollContext, head: Block): Promise<PollResult> {
  const { chain } = context;
  const fork = await findFork(rpc, chain, context.finalized);
  if (fork.kind !== 'none') return { kind: 'fork', head: head.number, fork };
  // The node has our tip, and blocks above it that do not follow it. To report no new blocks would hide that.
  if (head.number > chain.tip().number)
    throw new RpcError(
      'invalid_answer',
      `block ${chain.tip().number + 1} does not follow the node's own block before it`,
    );
  return { kind: 'no_new_blocks', head: head.number };
}

async function readNearHead(rpc: RpcProvider, context: PollContext, ahead: Ahead): Promise<PollResult> {
  const { network, chain } = context;
  const { head } = ahead;
  const tip = chain.tip();
  const blocks = await readNext(rpc, tip.number, Math.min(NEAR_HEAD_BLOCKS, context.maxBlocks), ahead);
  const [first] = blocks;
  if (first === undefined || first.parentHash !== tip.hash) return detectFork(rpc, context, head);
  requireSuccessor(first, tip);
  const [tagged, entries] = await Promise.all([
    ahead.finalized === undefined ? readFinalized(rpc) : ahead.finalized,
    readLogsByHash(rpc, network, blocks, ahead.logs),
  ]);
  if (tagged !== null && contradicts(chain, tagged)) return detectFork(rpc, context, head);
  const transfers = await matchTransfers(rpc, network, entries, context.watches);
  const finalized = finalizedHeight(network, head.number, tagged);
  return { kind: 'blocks', head: head.number, finalized, blocksToStore: blocks, transfers };
}

/** The blocks above our tip, at most `count`, linked to each other. Only those that were not read ahead are asked for. */
async function readNext(rpc: RpcProvider, tip: number, count: number, { head, blocks }: Ahead): Promise<Block[]> {
  const to = Math.min(head.number, tip + count);
  const known = new Map([...blocks, head].map((block) => [block.number, block]));
  const numbers = Array.from({ length: to - tip }, (_, offset) => tip + 1 + offset);
  const isComplete = numbers.every((number) => known.has(number));
  return requireLinked(
    isComplete ? numbers.map((number) => known.get(number) ?? null) : await readBlocksAt(rpc, numbers),
  );
}

/** The node calls another block final than the one we have at that height. */
function contradicts(chain: LocalChain, finalized: Block): boolean {
  const ours = chain.hashAt(finalized.number);
  return ours !== undefined && ours !== finalized.hash;
}

/** The node's head, and what was requested along with it, before it was known which block that is. */
type Ahead = {
  head: Block;
  /** Undefined when it was not asked for; null when the node knows no such tag. */
  finalized?: Block | null;
  /** Those that exist of the blocks between our tip and the head. */
  blocks: Block[];
  /** Events of any blocks above our tip. A block without one here may still have events. */
  logs: Log[];
};

/** More new blocks than this come only after a pause, and reading those takes more round trips anyway. */
const MAX_EXPECTED_BLOCKS = 8;

/** @param expected new blocks that are likely to be there; 0 reads nothing but the head, in one small request. */
async function readAhead(rpc: RpcProvider, network: ChainNetwork, tip: number, expected: number): Promise<Ahead> {
  if (expected === 0) return { head: await readHead(rpc), blocks: [], logs: [] };
  // The last of the expected blocks is the head itself.
  const between = Array.from({ length: Math.min(expected, MAX_EXPECTED_BLOCKS) - 1 }, (_, offset) => tip + 1 + offset);
  const [head, finalized, found, logs] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    readBlocksAt(rpc, between),
    readLogsAhead(rpc, network, tip + 1),
  ]);
  const blocks = found.filter((block) => block !== null).filter(({ number }) => number < head.number);
  return { head, finalized, blocks, logs };
}

/**
 * Where there is no such block yet, nodes answer an empty list or an error; neither matters. An answer that may have been cut off does:
 * the block in which it ends would be taken for complete.
 */
async function readLogsAhead(rpc: RpcProvider, network: ChainNetwork, from: number): Promise<Log[]> {
  try {
    const logs = await readLogsOfRange(rpc, from, null, transferFilter(network, null));
    requireWholeAnswer(logs, from, Number.POSITIVE_INFINITY);
    return logs;
  } catch (error) {
    if (error instanceof RpcError) return [];
    throw error;
  }
}
