import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlockAt, readBlocksAt, readFinalized, readHead } from '../rpc/reads.ts';
import { finalityClaim, type FinalityClaim } from './finality.ts';
import { findFork, type Fork, type LocalChain } from './local-chain.ts';
import type { ChainNetwork } from './networks.ts';
import { readAhead, NEAR_HEAD_BLOCKS, type Expected } from './read-ahead.ts';
import { matchTransfers, readLogsByHash, requireLinked, requireSuccessor } from './read-blocks.ts';
import { findDeprecation, type Deprecation, type Transfer } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** The result of polling a node. Nothing of it is stored yet. */
export type PollResult =
  /** `finalized`: see `blocks`. */
  | { kind: 'no_new_blocks'; head: number; finalized: FinalityClaim | null }
  | {
      kind: 'blocks';
      head: number;
      /** The last block that is final to this node; null when it names none, or was not asked. */
      finalized: FinalityClaim | null;
      /**
       * Blocks above our tip, ascending. If blocks are read one by one, all of them. Of a final range, only the last one. Of several expected
       * blocks, the last one and those with a transfer.
       */
      blocksToStore: Block[];
      transfers: Transfer[];
      deprecation: Deprecation | null;
    }
  | { kind: 'fork'; head: number; fork: Fork }
  /** We are so far behind that blocks are read in ranges, up to the block `finalized`. */
  | { kind: 'needs_catch_up'; head: number; finalized: FinalityClaim };

export type PollContext = {
  network: ChainNetwork;
  chain: LocalChain;
  watches: Pick<WatchSet, 'has' | 'size' | 'addresses'>;
  /** Below this height, nothing may change any more. */
  finalized: number;
  /** Whether any endpoint of the network has ever named a final block. */
  hasNamedFinal: boolean;
  /** Most blocks to read at once. */
  maxBlocks: number;
  /** Whether to ask for the final block even when reading the blocks does not need it. */
  asksFinality: boolean;
  /** Whether to ask for the final block even when there is no new block. */
  asksFinalityAtTip: boolean;
  /** Null when nothing is expected above our tip. */
  expected: Expected | null;
};

/**
 * Reads the blocks above our tip, or finds the fork where the node's chain leaves ours. When nothing is new, and nothing was expected, it
 * takes one small request.
 * @throws RpcError when the node contradicts itself or cannot answer.
 */
export async function poll(rpc: RpcProvider, context: PollContext): Promise<PollResult> {
  const { chain, network } = context;
  const tip = chain.tip();
  const { head, blocks } = await readHeadOrAhead(rpc, context);
  if (blocks !== null) return blocks;
  if (head.hash === tip.hash) return readNothingNew(rpc, context, head);
  if (head.number <= tip.number) {
    // A node that lags shows an old head of our own chain. Only a different block at the same height is a fork.
    const ours = chain.hashAt(head.number);
    if (ours === undefined || ours === head.hash) return { kind: 'no_new_blocks', head: head.number, finalized: null };
    return detectFork(rpc, context, head);
  }
  if (head.number - tip.number > NEAR_HEAD_BLOCKS) {
    const finalized = finalityClaim(network, head.number, await readFinalized(rpc), context.hasNamedFinal);
    if (finalized !== null && finalized.height > tip.number) {
      // A node can claim any height, and every endpoint would then be asked for ranges up to it.
      if ((await readBlockAt(rpc, finalized.height)) === null)
        throw new RpcError('unknown_block', 'the node does not have the block that it calls final');
      return { kind: 'needs_catch_up', head: head.number, finalized };
    }
  }
  return readNearHead(rpc, context, head);
}

async function readHeadOrAhead(
  rpc: RpcProvider,
  context: PollContext,
): Promise<{ head: Block; blocks: PollResult | null }> {
  const { expected } = context;
  if (expected === null) return { head: await readHead(rpc), blocks: null };
  const { head, tagged, reading } = await readAhead(rpc, context, expected);
  if (reading === null || (tagged !== null && contradicts(context.chain, tagged))) return { head, blocks: null };
  const finalized = claimOf(context, context.asksFinality, head, tagged);
  return { head, blocks: { kind: 'blocks', head: head.number, finalized, ...reading } };
}

/** What the node says about finality, if it was asked. */
function claimOf(
  { network, hasNamedFinal }: PollContext,
  isAsked: boolean,
  head: Block,
  tagged: Block | null,
): FinalityClaim | null {
  return isAsked ? finalityClaim(network, head.number, tagged, hasNamedFinal) : null;
}

/** Our tip is the node's head. */
async function readNothingNew(rpc: RpcProvider, context: PollContext, head: Block): Promise<PollResult> {
  const { chain, asksFinalityAtTip } = context;
  const named = asksFinalityAtTip ? await readFinalized(rpc) : null;
  if (named !== null && contradicts(chain, named)) return detectFork(rpc, context, head);
  return { kind: 'no_new_blocks', head: head.number, finalized: claimOf(context, asksFinalityAtTip, head, named) };
}

/** Call it after a block that does not belong to our chain. */
export async function detectFork(rpc: RpcProvider, context: PollContext, head: Block): Promise<PollResult> {
  const { chain } = context;
  const fork = await findFork(rpc, chain, context.finalized);
  if (fork.kind !== 'none') return { kind: 'fork', head: head.number, fork };
  // The node has our tip, and blocks above it that do not follow it. Reporting no new blocks would hide that.
  if (head.number > chain.tip().number)
    throw new RpcError(
      'invalid_answer',
      `block ${chain.tip().number + 1} does not follow the node's own block before it`,
    );
  return { kind: 'no_new_blocks', head: head.number, finalized: null };
}

async function readNearHead(rpc: RpcProvider, context: PollContext, head: Block): Promise<PollResult> {
  const { network, chain } = context;
  const tip = chain.tip();
  const blocks = await readNext(rpc, tip.number, Math.min(NEAR_HEAD_BLOCKS, context.maxBlocks), head);
  const [first] = blocks;
  if (first === undefined || first.parentHash !== tip.hash) return detectFork(rpc, context, head);
  requireSuccessor(first, tip);
  const [tagged, entries] = await Promise.all([
    context.asksFinality ? readFinalized(rpc) : null,
    readLogsByHash(rpc, network, blocks),
  ]);
  if (tagged !== null && contradicts(chain, tagged)) return detectFork(rpc, context, head);
  const transfers = await matchTransfers(rpc, network, entries, context.watches);
  const finalized = claimOf(context, context.asksFinality, head, tagged);
  const read = entries.map(({ block }) => block);
  const deprecation = findDeprecation(network.token, entries);
  return { kind: 'blocks', head: head.number, finalized, blocksToStore: read, transfers, deprecation };
}

/**
 * The blocks above our tip, at most `count`, linked to each other. If there is only one, it is the head, which we already have. The result
 * ends before the first missing block: another node behind the same address may be late.
 */
async function readNext(rpc: RpcProvider, tip: number, count: number, head: Block): Promise<Block[]> {
  if (head.number === tip + 1) return [head];
  const length = Math.min(head.number - tip, count);
  const numbers = Array.from({ length }, (_, offset) => tip + 1 + offset);
  const found = await readBlocksAt(rpc, numbers);
  const missing = found.indexOf(null);
  return requireLinked(missing > 0 ? found.slice(0, missing) : found);
}

/** Whether the node's final block differs from the block we have at that height. */
function contradicts(chain: LocalChain, finalized: Block): boolean {
  const ours = chain.hashAt(finalized.number);
  return ours !== undefined && ours !== finalized.hash;
}
