import type { ChainNetwork } from './networks.ts';
import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlockAt, readBlocksAt, readFinalized } from '../rpc/reads.ts';
import type { Transfer } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';
import { finalizedHeight } from './finality.ts';
import { findFork, type Fork } from './fork.ts';
import type { LocalChain } from './local-chain.ts';
import { readAhead, type Ahead } from './read-ahead.ts';
import { matchTransfers, readLogsByHash, requireBlocks, requireSuccessor } from './read-blocks.ts';

/** What one look at a node's chain has brought. Nothing in it is stored yet. */
export type PollResult =
  | { kind: 'no_new_blocks'; head: number }
  | {
      kind: 'blocks';
      head: number;
      /** Height up to which the chain is final to this node. */
      finalized: number;
      /** Of the blocks right above our tip, those to remember, ascending: all near the head, only the last of a final range. */
      blocksToStore: Block[];
      transfers: Transfer[];
    }
  | { kind: 'fork'; head: number; fork: Fork }
  /** There is so much to read that it is read in ranges, up to the block `finalized`. */
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
 * Reads what follows our tip, or finds out where our chain has been left. When nothing is new it costs one small request.
 * @param expected so many new blocks are likely to be there. They are asked for together with the head, which saves a round trip
 *   when they are, and is wasted when they are not.
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function poll(rpc: RpcProvider, from: PollContext, expected = 0): Promise<PollResult> {
  const { chain } = from;
  const tip = chain.tip();
  const ahead = await readAhead(rpc, from.network, tip.number, expected);
  const { head } = ahead;
  if (head.hash === tip.hash) return { kind: 'no_new_blocks', head: head.number };
  if (head.number <= tip.number) {
    // A replica that lags shows an old head of our own chain; only another block at the same height is a fork.
    const ours = chain.hashAt(head.number);
    if (ours === undefined || ours === head.hash) return { kind: 'no_new_blocks', head: head.number };
    return detectFork(rpc, from, head);
  }
  if (head.number - tip.number > NEAR_HEAD_BLOCKS) {
    const finalized = finalizedHeight(from.network, head.number, await readFinalized(rpc));
    // Heights alone cost a node nothing, and ranges up to there would be asked of all of them.
    if (finalized > tip.number && (await readBlockAt(rpc, finalized)) === null)
      throw new RpcError('unknown_block', 'the node lacks the block that it calls final');
    if (finalized > tip.number) return { kind: 'needs_catch_up', head: head.number, finalized };
  }
  return readNearHead(rpc, from, ahead);
}

async function readNearHead(rpc: RpcProvider, from: PollContext, ahead: Ahead): Promise<PollResult> {
  const { network, chain } = from;
  const { head } = ahead;
  const tip = chain.tip();
  const blocks = await readNext(rpc, tip.number, Math.min(NEAR_HEAD_BLOCKS, from.maxBlocks), ahead);
  const [first] = blocks;
  if (first === undefined || first.parentHash !== tip.hash) return detectFork(rpc, from, head);
  requireSuccessor(first, tip);
  const [tagged, entries] = await Promise.all([
    ahead.finalized === undefined ? readFinalized(rpc) : ahead.finalized,
    readLogsByHash(rpc, network, blocks, ahead.logs),
  ]);
  if (tagged !== null && contradicts(chain, tagged)) return detectFork(rpc, from, head);
  const transfers = await matchTransfers(rpc, network, entries, from.watches);
  const finalized = finalizedHeight(network, head.number, tagged);
  return { kind: 'blocks', head: head.number, finalized, blocksToStore: blocks, transfers };
}

/** The caller has seen a block that does not belong to our chain. */
export async function detectFork(rpc: RpcProvider, from: PollContext, head: Block): Promise<PollResult> {
  const fork = await findFork(rpc, from.chain, from.finalized);
  if (fork.kind !== 'none') return { kind: 'fork', head: head.number, fork };
  // Blocks above our tip that do not follow it, on a node that still has it: standing still without a word would hide that.
  if (head.number > from.chain.tip().number) {
    throw new RpcError(
      'invalid_answer',
      `block ${from.chain.tip().number + 1} does not follow the node's own block before it`,
    );
  }
  return { kind: 'no_new_blocks', head: head.number };
}

/** The blocks above our tip, at most `count`, linked to each other. Only those that were not read ahead are asked for. */
async function readNext(rpc: RpcProvider, tip: number, count: number, { head, blocks }: Ahead): Promise<Block[]> {
  const to = Math.min(head.number, tip + count);
  const known = new Map([...blocks, head].map((block) => [block.number, block]));
  const numbers = Array.from({ length: to - tip }, (_, offset) => tip + 1 + offset);
  if (numbers.every((number) => known.has(number)))
    return requireBlocks(numbers.map((number) => known.get(number) ?? null));
  return requireBlocks(await readBlocksAt(rpc, numbers));
}

/** The node calls another block final than the one we have at that height. */
function contradicts(chain: LocalChain, finalized: Block): boolean {
  const ours = chain.hashAt(finalized.number);
  return ours !== undefined && ours !== finalized.hash;
}
