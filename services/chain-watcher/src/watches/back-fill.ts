import { matchRange, readRange, requireOurBlocks } from '@quittance/chain-reader/chain/read-range.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { backoffMs } from '@quittance/runtime/concurrency/backoff.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { areMissing, createRangeSize, type AdaptiveBatchSize } from '../blocks/ranges.ts';
import { lowerAudited } from '../leadership/cursor.sql.ts';
import { fencedTransaction, type ChainView, type Position, type Term } from '../leadership/term.ts';
import { recordTransfers, storeTransfers } from '../transfers/publish.ts';
import { advanceBackFills, readBackFills, type BackFill } from './watch.sql.ts';
import { createWatchPlanner } from './watches.ts';

const MAX_WALLETS_AT_ONCE = 200;
/** How long back-filling pauses after a node could not serve it; following the head goes on meanwhile. */
const RETRY_MS = 1_000;

/**
 * Reads again, for wallets that are watched only now, the blocks that were scanned before.
 * @param options.onReadAgain these blocks, both ends included, were read again from this endpoint.
 */
export function createBackFillJob(
  term: Term,
  position: Position,
  options: { onReadAgain: (blocks: { from: number; through: number }, endpoint: number) => void },
) {
  const { network, pool, metrics, logger } = term;
  const { chain, heights } = position;
  const planner = createWatchPlanner(term, position);
  const rangeSize = createRangeSize(network);
  /** False once the database has been seen to hold no unfinished back-fill. */
  let mayHaveBackFills = true;
  const turns = createTurns();
  /** Monotonic milliseconds. */
  let notBefore = 0;

  /** Reads one range of blocks for the wallets that miss it, and stores what it finds together with the progress. */
  async function backFillOnce(): Promise<{ more: boolean }> {
    const turn = turns.next();
    if (turn === null) return { more: false };
    const due = await readBackFills(pool, network.id, { ...turn, limit: MAX_WALLETS_AT_ONCE });
    const [first] = due;
    mayHaveBackFills = first !== undefined;
    if (first === undefined) return { more: false };
    const from = first.next;
    const fills = due.filter(({ next }) => next >= from);
    const tip = chain.tip().number;
    const through = Math.max(from, lastBlock(fills, from, rangeSize.size(), tip));
    const wallets = fills.filter(({ next }) => next <= through).map(({ address }) => address);
    // A reorg may have taken all these blocks away.
    const read = from > tip ? NOTHING : await readOrShrink(term, chain, rangeSize, { from, to: through, wallets });
    if (read === null) return { more: true };
    const { published } = await fencedTransaction(term, async (tx) => {
      const stored = await storeTransfers(tx, term, read.transfers, heights());
      await advanceBackFills(tx, network.id, wallets, { from, through, tip });
      // The audit may have passed some of these blocks already, without these wallets.
      if (read !== NOTHING) await lowerAudited(tx, network.id, from - 1);
      faultPoint('backfill-written');
      return stored;
    });
    if (read !== NOTHING) options.onReadAgain({ from, through }, read.endpoint);
    metrics.backFilledBlocks.inc({ network: network.id }, through - from + 1);
    recordTransfers(term, published);
    turns.done();
    return { more: true };
  }

  return {
    /** Call it before the head is followed, so that no new block passes a new wallet. */
    watchNewWallets: planner.watchNewWallets,
    async run(): Promise<{ more: boolean }> {
      if (performance.now() < notBefore) return { more: false };
      try {
        if (await planner.plan()) {
          mayHaveBackFills = true;
          turns.added();
        }
        const isDue = mayHaveBackFills && term.endpoints.mayBegin('back-fill', 'payments');
        return isDue ? await backFillOnce() : { more: false };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        if (areMissing(error)) turns.missing();
        else notBefore = performance.now() + RETRY_MS;
        logger.warn({ network: network.id, error: error.message }, 'back-filling has to wait');
        return { more: false };
      }
    },
  };
}

type BackFillReading = { transfers: Transfer[]; endpoint: number };
const NOTHING: BackFillReading = { transfers: [], endpoint: 0 };

/** @returns null when the node found the range too large: the next one is smaller. */
async function readOrShrink(
  { network, endpoints }: Term,
  chain: ChainView,
  rangeSize: AdaptiveBatchSize,
  { from, to, wallets }: { from: number; to: number; wallets: readonly string[] },
): Promise<BackFillReading | null> {
  const asked = to - from + 1;
  try {
    const reading = await endpoints.ask(async (rpc) => {
      const range = await readRange(rpc, network, from, to, wallets);
      // The last blocks of a range may be above the final one: a node on another fork would show other blocks than ours.
      requireOurBlocks(range, (number) => chain.hashAt(number));
      const transfers = await matchRange(rpc, network, range, new Set(wallets));
      return { transfers, endpoint: rpc.endpoint };
    });
    rangeSize.grow(asked);
    return reading;
  } catch (error) {
    if (!rangeSize.shrinkAfter(error, asked)) throw error;
    return null;
  }
}

const lastBlock = (fills: readonly BackFill[], from: number, maxBlocks: number, tip: number): number =>
  Math.min(from + maxBlocks - 1, tip, Math.max(...fills.map(({ to }) => to)));

/** Where no endpoint keeps the blocks, asking for them takes a score of calls each time. */
const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };

/**
 * Whether the back-fill that is farthest back is next, or the one that is least: neither blocks that no node serves nor millions of old
 * ones may keep others from being read.
 * @param now monotonic milliseconds.
 */
export function createTurns(now: () => number = () => performance.now()) {
  const [oldest, newest] = [createSide(), createSide()];
  let current = newest;
  const isDue = ({ notBefore }: Side): boolean => now() >= notBefore;
  return {
    /** @returns whether the newest one is next; null while both pause. */
    next(): { newestFirst: boolean } | null {
      const other = current === oldest ? newest : oldest;
      if (isDue(other)) current = other;
      return isDue(current) ? { newestFirst: current === newest } : null;
    },
    /** What was next has been read. */
    done(): void {
      current.failures = 0;
    },
    /** No endpoint has its blocks: it pauses, longer each time. */
    missing(): void {
      current.notBefore = now() + backoffMs(current.failures, BACKOFF);
      current.failures += 1;
    },
    /** There is a new one, which does not wait for another's pause. */
    added(): void {
      Object.assign(newest, createSide());
    },
  };
}

type Side = ReturnType<typeof createSide>;
const createSide = () => ({ failures: 0, notBefore: Number.NEGATIVE_INFINITY });
