import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { isTooMuch, suggestedBlocks, RpcError, type RpcErrorKind } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt } from '@quittance/chain-reader/rpc/reads.ts';
import type { ChainView } from '../leadership/term.ts';

/**
 * How many blocks to request at once. The limit is found by trying: nodes limit the blocks in a range, the events in an answer and the time
 * it takes, and not every error names the limit.
 */
export type AdaptiveBatchSize = ReturnType<typeof createBatchSize>;

/** Growth after a success, as a divisor: 5 %. */
const GROWTH_DIVISOR = 20;
/** After a refusal, this many successes before the size grows again. Otherwise every second request would be refused. */
const SUCCESSES_BEFORE_GROWTH = 50;

/** Blocks of the first range. */
const FIRST_RANGE_BLOCKS = 200;

export function createBatchSize(first: number, max: number) {
  let size = Math.min(first, max);
  let successesToWait = 0;
  return {
    /** Blocks to ask for next; at least 1. */
    size: () => size,
    /** Call it after a successful request for this many blocks. A request for fewer than `size` is no reason to grow. */
    grow(asked: number): void {
      if (asked < size) return;
      if (successesToWait > 0) successesToWait -= 1;
      else size = Math.min(max, size + Math.max(1, Math.floor(size / GROWTH_DIVISOR)));
    },
    /**
     * Call it after a request for this many blocks has failed. The node's suggestion is used only if it is less than what was asked,
     * because some nodes suggest nonsense.
     * @returns whether the request was too large and a smaller one may succeed.
     */
    shrinkAfter(error: unknown, asked: number): boolean {
      if (!isTooMuch(error) || asked <= 1) return false;
      const suggested = suggestedBlocks(error.suggested);
      const isLess = suggested !== null && suggested < asked;
      size = Math.max(1, Math.floor(isLess ? suggested : asked / 2));
      successesToWait = SUCCESSES_BEFORE_GROWTH;
      return true;
    },
  };
}

/** For blocks that are read in ranges. */
export const createRangeSize = ({ max_block_range: max }: { max_block_range: number }) =>
  createBatchSize(FIRST_RANGE_BLOCKS, max);

/**
 * A block's timestamp may differ this much from the time when its transfers were made, because chain clocks lag: a rollup's by minutes
 * after a restart. Every search for blocks by time extends this far beyond the given time.
 */
export const BLOCK_TIME_MARGIN_SECONDS = 150;

/** First step of the search for an old block. */
const FIRST_STEP_BLOCKS = 64;

/**
 * The height of the first block at or after this time (Unix seconds). It is looked up in the stored end of our chain. For an older block, the
 * search steps back in growing steps and then bisects. It never requests a block that is far older than the result, because many nodes do
 * not keep such blocks.
 */
export async function firstBlockSince(endpoints: Endpoints, chain: ChainView, timestamp: number): Promise<number> {
  const before = chain.before(timestamp);
  if (before !== undefined) return before.number + 1;
  const lowest = chain.heights().at(-1) ?? 0;
  return endpoints.ask(async (rpc) => {
    const isBefore = async (number: number) => {
      const block = await readBlockAt(rpc, number);
      if (block === null) throw new RpcError('unknown_block', 'the node does not have old blocks');
      return block.timestamp < timestamp;
    };
    let low = lowest;
    let high = lowest;
    for (let step = FIRST_STEP_BLOCKS; low > 0; step *= 2) {
      low = Math.max(0, low - step);
      if (await isBefore(low)) break;
      high = low;
    }
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}

/** How nodes that do not keep old blocks answer: with nothing, or as if the blocks were empty. */
const MISSING: readonly RpcErrorKind[] = ['unknown_block', 'invalid_answer'];

/** Whether no node has some old blocks, so that asking again soon does not help. */
export const areMissing = (error: unknown): error is RpcError =>
  error instanceof RpcError && MISSING.includes(error.kind);
