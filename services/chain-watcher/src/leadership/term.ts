import { confirmingTip, finalHeights, type FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import { createLocalChain, type BlockHead, type LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import type { WatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { ChainMetrics } from '../metrics.ts';
import { fence, type Cursor, type FinalBlock } from './cursor.sql.ts';

/** What scanning one network needs. It stays the same for the life of the process. */
export type NetworkContext = {
  network: ChainNetwork;
  endpoints: Endpoints;
  pool: Pool;
  outbox: Outbox;
  logger: Logger;
  metrics: ChainMetrics;
};

export type WatchedNetwork = Pick<NetworkContext, 'network' | 'endpoints'>;

/** What every job gets for one term of leadership. */
export type Term = NetworkContext & {
  /** Identifies this term in every commit; see fence(). */
  epoch: bigint;
  isLeading(): boolean;
  /** The wallets whose transfers matter: those that are watched in the database. */
  watches: WatchSet;
};

/**
 * Runs a transaction that commits only while this term lasts.
 * @throws Fenced
 */
export function fencedTransaction<T>({ pool, network, epoch }: Term, run: (tx: Transaction) => Promise<T>): Promise<T> {
  return transaction(pool, async (tx) => {
    await fence(tx, network.id, epoch);
    return run(tx);
  });
}

/** What every commit of the follow job stores in the cursor, in addition to the tip. */
type StoredHeights = Pick<Cursor, 'head' | 'finalized' | 'hasNamedFinal' | 'final' | 'largeFinal'>;

export type Heights = StoredHeights &
  FinalHeights & {
    /** Height from which confirmations are counted. */
    confirmingTip: number;
  };

/** The end of our chain, read-only. */
export type ChainView = Pick<LocalChain, 'tip' | 'hashAt' | 'atOrBelow' | 'before' | 'heights'>;

/** How far the scan of one network has come: the database's state, in memory. */
export type Position = { heights(): Heights; chain: ChainView };

/** For the follow job, the only writer. It changes the position only after a commit. */
export type WritablePosition = ReturnType<typeof createPosition>;

/** @returns null until the network's first start has chosen a block. */
export function positionAt(cursor: Cursor, blocks: readonly BlockHead[]): WritablePosition | null {
  const { tip } = cursor;
  if (tip === null) return null;
  return createPosition(storedHeights(cursor, tip.number), createLocalChain(blocks.length > 0 ? blocks : [tip]));
}

/** The heights that follow from what a cursor stores. */
export function storedHeights(
  { head, finalized, hasNamedFinal, final, largeFinal }: StoredHeights,
  confirmingTip: number,
): Heights {
  const finalHeight = final?.number ?? -1;
  const largeFinalHeight = largeFinal?.number ?? -1;
  return { head, finalized, hasNamedFinal, final, largeFinal, finalHeight, largeFinalHeight, confirmingTip };
}

export function createPosition(start: Heights, chain: LocalChain) {
  let heights = start;
  return {
    heights: (): Heights => heights,
    chain,
    set(next: Heights): void {
      heights = next;
    },
  };
}

/** The heights once these blocks are stored. */
export function heightsAfter(
  network: ChainNetwork,
  before: Heights,
  chain: ChainView,
  { head, finalized, blocksToStore }: Extract<PollResult, { kind: 'blocks' }>,
  tip: BlockHead,
): Heights {
  const stored = (height: number): BlockHead | undefined =>
    blocksToStore.findLast(({ number }) => number <= height) ?? chain.atOrBelow(height);
  const claim = finalized?.height ?? -1;
  // When several blocks are read at once, not all are stored. Only a stored block can show later that the nodes have left it.
  const called = claim < tip.number ? (stored(claim)?.number ?? claim) : claim;
  // A lagging endpoint may name an older final block, or none. What was final stays final.
  const known = Math.max(before.finalized, called);
  const heights = { tip: tip.number, head, finalized: known };
  const { finalHeight, largeFinalHeight } = finalHeights(network, heights);
  const further = (height: number, present: FinalBlock | null): FinalBlock | null => {
    const block = stored(height);
    return block !== undefined && block.number > (present?.number ?? -1) ? toFinal(block) : present;
  };
  return {
    head,
    finalized: Math.min(known, tip.number),
    hasNamedFinal: before.hasNamedFinal || finalized?.isNamed === true,
    final: further(finalHeight, before.final),
    largeFinal: further(largeFinalHeight, before.largeFinal),
    finalHeight: Math.max(finalHeight, before.finalHeight),
    largeFinalHeight: Math.max(largeFinalHeight, before.largeFinalHeight),
    confirmingTip: confirmingTip(heights),
  };
}

/** The heights once our chain ends at this ancestor. A final block that is still there stays final. */
export function heightsAtAncestor(
  network: ChainNetwork,
  before: Heights,
  chain: ChainView,
  ancestor: BlockHead,
): Heights {
  const { head, hasNamedFinal } = before;
  const finalized = Math.min(before.finalized, ancestor.number);
  const heights = finalHeights(network, { tip: ancestor.number, head: ancestor.number, finalized });
  const back = (height: number, present: FinalBlock | null): FinalBlock | null => {
    if (present === null || present.number <= ancestor.number) return present;
    const earlier = chain.atOrBelow(height);
    return earlier === undefined ? null : toFinal(earlier);
  };
  const backHeight = (height: number, known: number) => (known <= ancestor.number ? known : height);
  return {
    head,
    finalized,
    hasNamedFinal,
    final: back(heights.finalHeight, before.final),
    largeFinal: back(heights.largeFinalHeight, before.largeFinal),
    finalHeight: backHeight(heights.finalHeight, before.finalHeight),
    largeFinalHeight: backHeight(heights.largeFinalHeight, before.largeFinalHeight),
    confirmingTip: ancestor.number,
  };
}

const toFinal = ({ number, timestamp }: BlockHead): FinalBlock => ({ number, timestamp });
