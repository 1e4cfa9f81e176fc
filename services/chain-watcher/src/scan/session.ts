import type { Outbox } from '@quittance/messaging/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { createLocalChain, type LocalChain } from '../chain/local-chain.ts';
import type { ChainMetrics } from '../metrics.ts';
import type { ChainNetwork } from '../networks.ts';
import { MAX_BATCH_REQUESTS } from '../rpc/provider.ts';
import type { Endpoints } from '../rpc/endpoints.ts';
import { loadCanonicalBlocks } from '../store/blocks.ts';
import { takeOver, type Cursor } from '../store/cursor.ts';
import { loadWatchedAddresses } from '../store/watches.ts';
import { createWatchSet, type WatchSet } from '../watch-set.ts';
import { tryToLead, type Leadership } from './leadership.ts';
import type { ScanState } from './state.ts';

/** What scanning one network needs; the same for the life of the process. */
export type ScanContext = {
  network: ChainNetwork;
  endpoints: Endpoints;
  pool: Pool;
  /** Connections for leaderships only. */
  leaderPool: Pool;
  /** How long a silent leader keeps its right. */
  leaseMs: number;
  outbox: Outbox;
  logger: Logger;
  metrics: ChainMetrics;
};

/**
 * One term as leader of a network: what the database holds, mirrored in memory and changed only after a commit.
 * After any error that leaves doubt about a commit the session is thrown away and read anew.
 */
export type Session = ScanState & {
  leadership: Leadership;
  epoch: bigint;
  isHalted: boolean;
  /** Null until the very first start has chosen where to begin. */
  chain: LocalChain | null;
  watches: WatchSet;
  /** Blocks to read at once; halved when a node finds it too much, and grown back slowly. */
  maxBlocks: number;
  maxBackFillBlocks: number;
  /** False once the database has been seen to hold no unfinished back-fill. */
  mayHaveBackFills: boolean;
  /** Monotonic milliseconds before which neither back-filling nor the end of watches is tried again. */
  backFillNotBefore: number;
  endWatchesNotBefore: number;
  /** As above, for transfers that a second endpoint must agree about. */
  agreementNotBefore: number;
};

/** One request of a batch is the range's events, the others its headers. */
export const MAX_BLOCKS = MAX_BATCH_REQUESTS - 1;
export const MAX_BACK_FILL_BLOCKS = 1_000;

/** @returns null while another replica leads this network. */
export async function openSession(context: ScanContext): Promise<Session | null> {
  const { pool, network } = context;
  const leadership = await tryToLead(context.leaderPool, network.id, context.leaseMs);
  if (leadership === null) return null;
  try {
    // Everything else is read after taking over, so that no commit of the previous leader is missed.
    const cursor = await takeOver(pool, network.id);
    const watches = createWatchSet();
    if (cursor.haltedAt === null) {
      for await (const page of loadWatchedAddresses(pool, network.id)) page.forEach((address) => watches.add(address));
    }
    const blocks = await loadCanonicalBlocks(pool, network.id);
    const chain = cursor.tip === null ? null : createLocalChain(blocks.length > 0 ? blocks : [cursor.tip]);
    context.logger.info(
      {
        network: network.id,
        epoch: String(cursor.epoch),
        block_number: cursor.tip?.number ?? null,
        wallets: watches.size(),
      },
      'leading the scan',
    );
    return createSession(leadership, cursor, chain, watches);
  } catch (error) {
    await leadership.release();
    throw error;
  }
}

function createSession(leadership: Leadership, cursor: Cursor, chain: LocalChain | null, watches: WatchSet): Session {
  return {
    leadership,
    epoch: cursor.epoch,
    isHalted: cursor.haltedAt !== null,
    chain,
    watches,
    head: cursor.head,
    finalized: cursor.finalized,
    final: cursor.final,
    largeFinal: cursor.largeFinal,
    finalHeight: cursor.final?.number ?? -1,
    largeFinalHeight: cursor.largeFinal?.number ?? -1,
    confirmingTip: cursor.tip?.number ?? 0,
    maxBlocks: MAX_BLOCKS,
    maxBackFillBlocks: MAX_BACK_FILL_BLOCKS,
    mayHaveBackFills: true,
    backFillNotBefore: 0,
    endWatchesNotBefore: 0,
    agreementNotBefore: 0,
  };
}
