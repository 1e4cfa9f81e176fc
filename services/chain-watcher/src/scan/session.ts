import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { createLocalChain, type LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/poll.ts';
import type { ChainMetrics } from '../metrics.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { readAudited } from '../store/audits.ts';
import { loadCanonicalBlocks } from '../store/blocks.ts';
import { takeOver, type Cursor } from '../store/cursor.ts';
import { mayAcceptFork } from '../store/resumptions.ts';
import { eachWatchedAddress } from '../store/watches.ts';
import { createWatchSet, type WatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import { createAllowance, type Allowance } from './allowance.ts';
import { createBackground, type Background } from '../audit/background.ts';
import { createReaders, type Readers } from '../audit/readers.ts';
import { noCadence, type Cadence } from './cadence.ts';
import { tryToLead, type Leadership } from './leadership.ts';
import type { NextRange } from './next-poll.ts';
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
  /** Blocks to read at once near the head. */
  nearHead: Allowance;
  /** A final block above our tip while we are so far behind that ranges are read; else null. */
  catchUpTo: number | null;
  /** What is read ahead while we are far behind; null when nothing is. */
  nextRange: NextRange | null;
  /** Blocks to read as one range, on the way to the head and for back-fills. */
  range: Allowance;
  backFillRange: Allowance;
  /** The same for blocks that are read once more. */
  auditRange: Allowance;
  rescanRange: Allowance;
  cadence: Cadence;
  /** False once the database has been seen to hold no unfinished back-fill. */
  mayHaveBackFills: boolean;
  /** Turned over by every failure: blocks that no node serves must not keep others from being read. */
  backFillsNewestFirst: boolean;
  /** Monotonic milliseconds before which neither back-filling, nor dating old watches, nor the end of watches is tried again. */
  backFillNotBefore: number;
  datingNotBefore: number;
  endWatchesNotBefore: number;
  /** As above, for transfers that a second endpoint must agree about, for the audit and for rescans. */
  agreementNotBefore: number;
  auditNotBefore: number;
  rescanNotBefore: number;
  /** Since when endpoints contradict each other about large transfers, by transaction, in monotonic milliseconds. */
  disagreements: Map<string, number>;
  /** So many transfers that cannot be agreed about yet come before those to ask about next. */
  agreementOffset: number;
  /** Who answered the last poll, and which blocks were read from whom. */
  lastEndpoint: number;
  readers: Readers;
  /** Whether an operator has allowed to follow the nodes below the finalized block, once. */
  mayAcceptFork: boolean;
  /** The last block that was audited; null on a network that has no final block yet. */
  audited: number | null;
  /** What is read beside the scan: the audit and rescans, in turns. */
  background: Background;
  isAuditsTurn: boolean;
};

/** Blocks of the first range; what follows is found out. */
const FIRST_RANGE_BLOCKS = 200;
const DEFAULT_MAX_BLOCK_RANGE = 2_000;

/**
 * @param wake makes the loop poll again soon.
 * @returns null while another replica leads this network.
 */
export async function openSession(context: ScanContext, wake: () => void): Promise<Session | null> {
  const { pool, network } = context;
  const leadership = await tryToLead(context.leaderPool, network.id, context.leaseMs);
  if (leadership === null) return null;
  try {
    // Everything else is read after taking over, so that no commit of the previous leader is missed.
    const cursor = await takeOver(pool, network.id);
    const watches = createWatchSet();
    if (cursor.haltedAt === null) {
      await eachWatchedAddress(pool, network.id, (address) => watches.add(address));
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
    return {
      ...createSession(network, leadership, cursor, chain, watches),
      background: createBackground(wake),
      mayAcceptFork: await mayAcceptFork(pool, network.id),
      audited: await readAudited(pool, network.id),
    };
  } catch (error) {
    await leadership.release();
    throw error;
  }
}

function createSession(
  { max_block_range: maxRange = DEFAULT_MAX_BLOCK_RANGE }: ChainNetwork,
  leadership: Leadership,
  cursor: Cursor,
  chain: LocalChain | null,
  watches: WatchSet,
): Omit<Session, 'background' | 'mayAcceptFork' | 'audited'> {
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
    nearHead: createAllowance(NEAR_HEAD_BLOCKS, NEAR_HEAD_BLOCKS),
    catchUpTo: null,
    nextRange: null,
    range: createAllowance(FIRST_RANGE_BLOCKS, maxRange),
    backFillRange: createAllowance(FIRST_RANGE_BLOCKS, maxRange),
    auditRange: createAllowance(FIRST_RANGE_BLOCKS, maxRange),
    rescanRange: createAllowance(FIRST_RANGE_BLOCKS, maxRange),
    cadence: noCadence,
    mayHaveBackFills: true,
    backFillsNewestFirst: false,
    backFillNotBefore: 0,
    datingNotBefore: 0,
    endWatchesNotBefore: 0,
    disagreements: new Map(),
    agreementNotBefore: 0,
    agreementOffset: 0,
    auditNotBefore: 0,
    rescanNotBefore: 0,
    lastEndpoint: 0,
    readers: createReaders(cursor.tip?.number ?? 0),
    isAuditsTurn: true,
  };
}
