import { isTooMuch, suggestedBlocks } from '@quittance/chain-reader/chain/too-much.ts';

/**
 * How many blocks to ask for at once, found out by asking: nodes limit the blocks of a range, the events of an answer and the
 * time it takes, each to its own number, and not every error names the number.
 */
export type AdaptiveBatchSize = ReturnType<typeof createBatchSize>;

/** Growth after a success, as a divisor: 5 %. */
const GROWTH_DIVISOR = 20;
/** A limit that was met is tried again only now and then: right after, every second request would be refused. */
const SUCCESSES_BEFORE_GROWTH = 50;

/** Blocks of the first range. */
const FIRST_RANGE_BLOCKS = 200;

export function createBatchSize(first: number, max: number) {
  let size = Math.min(first, max);
  let successesToWait = 0;
  return {
    /** Blocks to ask for next; at least 1. */
    size: () => size,
    /** Call it after this many blocks were answered. An answer to fewer than `size` is no reason to grow. */
    grow(asked: number): void {
      if (asked < size) return;
      if (successesToWait > 0) successesToWait -= 1;
      else size = Math.min(max, size + Math.max(1, Math.floor(size / GROWTH_DIVISOR)));
    },
    /**
     * Call it after a question for this many blocks has failed. What the node suggests is used if it is less than what was asked, because
     * nodes also suggest nonsense.
     * @returns whether it was too much, and less may be answered.
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
