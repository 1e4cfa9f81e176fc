import type { ChainNetwork } from '../networks.ts';
import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlocksAt, readFinalized, readHead } from '../rpc/reads.ts';
import type { Transfer } from '../transfers.ts';
import type { WatchSet } from '../watch-set.ts';
import type { LocalChain } from './local-chain.ts';
import { matchTransfers, readLogsByHash, requireBlocks, type BlockLogs } from './read-blocks.ts';
import { readRange } from './read-range.ts';
import { findFork, type Fork } from './fork.ts';

/** What one look at a node's chain has brought. Nothing in it is stored yet. */
export type Look =
  | { kind: 'nothing_new'; head: number }
  | {
      kind: 'blocks';
      head: number;
      /** Height of the node's finalized block; null when it knows no such tag. */
      finalized: number | null;
      /** Of the blocks right above our tip, those to remember, ascending: all near the head, only the last of a final range. */
      remember: Block[];
      transfers: Transfer[];
    }
  | { kind: 'fork'; head: number; fork: Fork };

export type LookFrom = {
  network: ChainNetwork;
  chain: LocalChain;
  watches: Pick<WatchSet, 'has'>;
  /** Height below which nothing may change any more. */
  finalized: number;
  /** Most blocks to read at once, at most one less than a batch has requests. */
  maxBlocks: number;
};

/** This far from the head, blocks are read one by one by hash; farther back, final ones in ranges. */
const NEAR_HEAD_BLOCKS = 32;

/**
 * Reads what follows our tip, or finds out where our chain has been left. When nothing is new it costs one small request.
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function look(rpc: RpcProvider, from: LookFrom): Promise<Look> {
  const { chain } = from;
  const head = await readHead(rpc);
  const tip = chain.tip();
  if (head.hash === tip.hash) return { kind: 'nothing_new', head: head.number };
  if (head.number <= tip.number) {
    // A replica that lags shows an old head of our own chain; only another block at the same height is a fork.
    const ours = chain.hashAt(head.number);
    if (ours === undefined || ours === head.hash) return { kind: 'nothing_new', head: head.number };
    return lookAtFork(rpc, from, head);
  }
  if (head.number - tip.number > NEAR_HEAD_BLOCKS) {
    const finalized = await readFinalized(rpc);
    if (finalized !== null && finalized.number > tip.number) return lookFarBack(rpc, from, head, finalized);
  }
  return lookNearHead(rpc, from, head);
}

async function lookNearHead(rpc: RpcProvider, from: LookFrom, head: Block): Promise<Look> {
  const { network, chain } = from;
  const tip = chain.tip();
  const to = Math.min(head.number, tip.number + Math.min(NEAR_HEAD_BLOCKS, from.maxBlocks));
  const blocks = head.number === tip.number + 1 ? [head] : await readNext(rpc, tip.number, to);
  if (blocks[0]?.parentHash !== tip.hash) return lookAtFork(rpc, from, head);
  const [finalized, entries] = await Promise.all([readFinalized(rpc), readLogsByHash(rpc, network, blocks)]);
  if (finalized !== null && contradicts(chain, finalized)) return lookAtFork(rpc, from, head);
  return toLook(rpc, from, head, finalized, entries, blocks);
}

async function lookFarBack(rpc: RpcProvider, from: LookFrom, head: Block, finalized: Block): Promise<Look> {
  const tip = from.chain.tip();
  const to = Math.min(finalized.number, tip.number + from.maxBlocks);
  const { first, last, entries } = await readRange(rpc, from.network, tip.number + 1, to, null);
  if (first.parentHash !== tip.hash) return lookAtFork(rpc, from, head);
  return toLook(rpc, from, head, finalized, entries, [last]);
}

async function toLook(
  rpc: RpcProvider,
  from: LookFrom,
  head: Block,
  finalized: Block | null,
  entries: BlockLogs[],
  remember: Block[],
): Promise<Look> {
  return {
    kind: 'blocks',
    head: head.number,
    finalized: finalized?.number ?? null,
    remember,
    transfers: await matchTransfers(rpc, from.network, entries, from.watches),
  };
}

async function lookAtFork(rpc: RpcProvider, from: LookFrom, head: Block): Promise<Look> {
  const fork = await findFork(rpc, from.chain, from.finalized);
  if (fork.kind !== 'none') return { kind: 'fork', head: head.number, fork };
  // Blocks above our tip that do not follow it, on a node that still has it: standing still without a word would hide that.
  if (head.number > from.chain.tip().number) {
    throw new RpcError(
      'invalid_answer',
      `block ${from.chain.tip().number + 1} does not follow the node's own block before it`,
    );
  }
  return { kind: 'nothing_new', head: head.number };
}

async function readNext(rpc: RpcProvider, tip: number, to: number): Promise<Block[]> {
  const numbers = Array.from({ length: to - tip }, (_, offset) => tip + 1 + offset);
  return requireBlocks(await readBlocksAt(rpc, numbers));
}

/** The node calls another block final than the one we have at that height. */
function contradicts(chain: LocalChain, finalized: Block): boolean {
  const ours = chain.hashAt(finalized.number);
  return ours !== undefined && ours !== finalized.hash;
}
