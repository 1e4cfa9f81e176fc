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
/** How long back-filling pauses after a node could not answer. The scan follows the head in the meantime. */
const RETRY_MS = 1_000;

/**
 * Reads blocks that were already scanned again, for wallets that are watched only now.
 * @param options.onReadAgain called with the blocks, both ends included, and the endpoint they were read from.
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
  /** False once the database is known to hold no unfinished back-fill. */
  let mayHaveBackFills = true;
  const turns = createTurns();
  /** Monotonic milliseconds. */
  let notBefore = 0;

  /** Reads one range of blocks for the wallets that need it, and stores the transfers together with the progress. */
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
    // After a reorg, none of these blocks may exist any more.
    const read = from > tip ? NOTHING : await readOrShrink(term, chain, rangeSize, { from, to: through, wallets });
    if (read === null) return { more: true };
    const { published } = await fencedTransaction(term, async (tx) => {
      const stored = await storeTransfers(tx, term, read.transfers, heights());
      await advanceBackFills(tx, network.id, wallets, { from, through, tip });
      // The audit may have read some of these blocks already, without these wallets.
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
    /** Call it before following the head, so that no new block is scanned without a new wallet. */
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

/** @returns null when the range was too large for the node. The next one is smaller. */
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
      // The last blocks of a range may not be final yet. A node on another fork would show different blocks.
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

/** When no endpoint keeps the blocks, each try takes about twenty calls. */
const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };

/**
 * Alternates between the back-fill that is farthest back and the one that is least far back. Blocks that no node has, or millions of old
 * blocks, must not keep the others from being read.
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
    /** The one that was next has been read. */
    done(): void {
      current.failures = 0;
    },
    /** No endpoint has the blocks: that side pauses, longer each time. */
    missing(): void {
      current.notBefore = now() + backoffMs(current.failures, BACKOFF);
      current.failures += 1;
    },
    /** There is a new back-fill, which does not wait for another one's pause. */
    added(): void {
      Object.assign(newest, createSide());
    },
  };
}

type Side = ReturnType<typeof createSide>;
const createSide = () => ({ failures: 0, notBefore: Number.NEGATIVE_INFINITY });
