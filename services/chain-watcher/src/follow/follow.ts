import { finalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import { createLocalChain, type BlockHead } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/read-ahead.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { insertBlocks, pruneBlocksBelow, storeScan } from '../blocks/block.sql.ts';
import { areMissing } from '../blocks/ranges.ts';
import { reportDeprecation } from '../incidents/report.ts';
import { moveCursor, Fenced } from '../leadership/cursor.sql.ts';
import {
  createPosition,
  heightsAfter,
  storedHeights,
  type Heights,
  type Position,
  type Term,
  type WritablePosition,
} from '../leadership/term.ts';
import { recordTransfers, storeTransfers } from '../transfers/publish.ts';
import { isAnybodyWaiting } from '../watches/payment.sql.ts';
import { createForkHandler, type FollowResult } from './forks.ts';
import { createLookSchedule, createPace } from './look-schedule.ts';
import { createLooks, type Looks } from './looks.ts';
import { createPoller } from './poller.ts';

/** Final blocks that are kept although no reorg can need them: they show where a fork begins, and date late watches cheaply. */
const KEPT_FINAL_BLOCKS = 256;
const PRUNE_EVERY_BLOCKS = 64;
/** Once a payment waits, it is assumed to wait this long. While none does, each call asks the database. */
const AWAKE_FOR_MS = 10_000;

type BlocksRead = Extract<PollResult, { kind: 'blocks' }>;

type FollowOptions = {
  /** Whether an operator has allowed the scan to follow the nodes below the finalized block, once. */
  mayAcceptFork: boolean;
  /** The blocks up to this height were read from this endpoint. */
  onRead: (through: number, endpoint: number) => void;
  /** The blocks above this height are gone. */
  onRewind: (number: number) => void;
};

/** Follows the chain's head. It is the only job that moves the position. */
export function createFollowJob(term: Term, position: WritablePosition, options: FollowOptions) {
  const { chain } = position;
  const forks = createForkHandler(term, position, options);
  const pace = createPace(createLookSchedule(chain, term.network.poll_interval_ms), term.network);
  const poller = createPoller(term, position, { mayAcceptFork: forks.mayAcceptFork, pace });
  const [isAwake, looks] = [createDemand(term), createLooks(term, position)];
  let last: FollowResult = 'more';
  /** Monotonic milliseconds. */
  let heldUntil = Number.NEGATIVE_INFINITY;

  async function pollOnce(): Promise<FollowResult> {
    const result = await poller.poll().catch((error: unknown) => {
      throw explainMissingHistory(error, term.network.id, position);
    });
    if (result.kind === 'ask_for_less') return 'more';
    if (result.kind !== 'needs_catch_up' && !term.isLeading())
      throw new Fenced(`${term.network.id}: the lead was lost while reading`);
    position.set({ ...position.heights(), head: result.head });
    if (result.kind === 'needs_catch_up') return 'more';
    if (result.kind === 'blocks') return storeBlocks(result);
    if (result.kind === 'no_new_blocks' && (result.finalized?.height ?? -1) > position.heights().finalized)
      return storeBlocks({ ...result, kind: 'blocks', blocksToStore: [], transfers: [], deprecation: null });
    return result.kind === 'fork' ? forks.handle(result.fork) : 'at_head';
  }

  async function storeBlocks(result: BlocksRead): Promise<FollowResult> {
    // Without a new block, only finality has moved.
    const tip = result.blocksToStore.at(-1) ?? chain.tip();
    const before = chain.tip().number;
    const heights = heightsAfter(term.network, position.heights(), chain, result, tip);
    const prune = Math.floor(tip.number / PRUNE_EVERY_BLOCKS) > Math.floor(before / PRUNE_EVERY_BLOCKS);
    const keepFrom = Math.min(heights.finalized, heights.finalHeight) - KEPT_FINAL_BLOCKS;
    await commit(term, looks, result, { tip, heights, keepFrom: prune ? keepFrom : null });
    chain.append(result.blocksToStore);
    if (prune) chain.prune(keepFrom);
    position.set(heights);
    term.metrics.blocksScanned.inc({ network: term.network.id }, tip.number - before);
    return tip.number < result.head ? 'more' : 'at_head';
  }

  const dueInMs = () => Math.max(pace.dueInMs(), heldUntil - performance.now());

  /** Whether the endpoints' daily plans allow no look now. If so, the next try is after an interval. */
  function isHeld(): boolean {
    if (term.endpoints.mayBegin('follow', pace.isAwake() ? 'payments' : 'background')) return false;
    heldUntil = performance.now() + term.network.poll_interval_ms;
    last = 'at_head';
    return true;
  }

  return {
    clockDifference: poller.clockDifference,
    dueInMs,
    announced: pace.announced,
    /** Call it before run(): a payment may wait now. */
    askWhetherAwake: async (): Promise<void> => pace.setAwake(await isAwake()),
    /** Polls the chain if that is due and the endpoints' daily plans allow it, and stores the result. @returns the outcome of the last poll. */
    async run(): Promise<FollowResult> {
      if (dueInMs() > 0 || isHeld()) return last;
      const [before, startedAt] = [chain.tip().number, performance.now()];
      last = await pollOnce();
      const tip = chain.tip().number;
      options.onRead(tip, poller.lastEndpoint());
      if (tip > before) await forks.dropPermission();
      if (last === 'at_head') await looks.ended(startedAt);
      pace.looked(startedAt, last === 'at_head');
      return last;
    },
  };
}

/** Commits blocks, transfers, messages and cursor together: after a crash, either all of them are stored or none. */
async function commit(
  term: Term,
  { isLive }: Pick<Looks, 'isLive'>,
  { blocksToStore, transfers, deprecation }: BlocksRead,
  { tip, heights, keepFrom }: { tip: BlockHead; heights: Heights; keepFrom: number | null },
): Promise<void> {
  const { network, pool, epoch } = term;
  faultPoint('blocks-read');
  const { published } = await transaction(pool, async (tx) => {
    const move = { network: network.id, epoch, tip, ...heights };
    const confirmed = await storeScan(tx, network, { move, blocks: blocksToStore, heights });
    const stored = await storeTransfers(tx, term, transfers, heights, { confirmed, isLive });
    if (deprecation !== null) await reportDeprecation(tx, term, deprecation);
    if (keepFrom !== null) await pruneBlocksBelow(tx, network.id, keepFrom);
    faultPoint('blocks-written');
    return stored;
  });
  faultPoint('blocks-committed');
  recordTransfers(term, published);
}

/** Whether a payment waits on the network, so that the chain has to be followed closely. */
function createDemand({ pool, network }: Term): () => Promise<boolean> {
  /** Monotonic milliseconds. */
  let awakeUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() < awakeUntil) return true;
    const isAwake = await isAnybodyWaiting(pool, network.id);
    if (isAwake) awakeUntil = performance.now() + AWAKE_FOR_MS;
    return isAwake;
  };
}

/**
 * A node that lags is missing new blocks. A node that is missing blocks far below the head does not keep blocks that old.
 * @returns in the second case, an error that tells the operator what to do; otherwise the error itself.
 */
function explainMissingHistory(error: unknown, network: string, { chain, heights }: Position): unknown {
  const tip = chain.tip().number;
  const isFarBehind = heights().head - tip > NEAR_HEAD_BLOCKS;
  if (!isFarBehind || !areMissing(error)) return error;
  const missing = `no endpoint shows what is in block ${String(tip + 1)} and the blocks after it`;
  const proposal = `Add one that keeps them, or continue without them: ops chain jump ${network} --reason '…'`;
  return new RpcError(error.kind, `${missing}. ${proposal} (${error.message})`);
}

/** Where to start when no block is final: deeper than nearly every reorg, and close enough to catch up in one poll. */
const START_CONFIRMATIONS = 128;

/**
 * Starts a network that was never scanned at its last final block. A wallet that needs earlier blocks gets them by a back-fill, and
 * every block that may still be reorganised is read one by one. When no block is final, the scan starts at a deep one.
 */
export async function startAtFinalBlock({ network, endpoints, pool, epoch, logger }: Term): Promise<WritablePosition> {
  const { head, start, claim } = await endpoints.ask(async (rpc) => {
    const [newest, finalized] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
    const final = finalityClaim(network, newest.number, finalized, false);
    // A block that is called final still needs its confirmations, like any other block.
    const depth = final === null ? START_CONFIRMATIONS : network.confirmations;
    const height = Math.min(final?.height ?? newest.number, newest.number - depth + 1);
    const block = await readBlockAt(rpc, Math.max(0, height));
    if (block === null) throw new RpcError('unknown_block', 'the node does not have a block below its own head');
    return { head: newest, start: block, claim: final };
  });
  const { number } = start;
  const final = claim === null ? null : start;
  const cursor = {
    head: head.number,
    finalized: final?.number ?? 0,
    final,
    largeFinal: final,
    hasNamedFinal: claim?.isNamed === true,
  };
  await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch, tip: start, ...cursor });
    await insertBlocks(tx, network.id, [start]);
  });
  logger.info({ network: network.id, block_number: number }, 'scanning starts');
  return createPosition(storedHeights(cursor, number), createLocalChain([start]));
}
