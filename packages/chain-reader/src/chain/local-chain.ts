import type { Block } from '../rpc/answers.ts';

export type BlockHead = Pick<Block, 'number' | 'hash' | 'timestamp'>;

/**
 * Our own view of a chain's end: the blocks that were scanned and stored and may still be reorganised away, oldest first.
 * Every two neighbours in height are linked by parent hash. Below the finalized block there may be holes, because catching
 * up in ranges stores only each range's last block.
 */
export type LocalChain = {
  tip(): BlockHead;
  /** @returns undefined for a height that is not stored. */
  hashAt(number: number): string | undefined;
  /** The highest stored block at or below this height. */
  atOrBelow(number: number): BlockHead | undefined;
  /** The highest stored block mined before this moment (Unix seconds). */
  before(timestamp: number): BlockHead | undefined;
  /** Heights that are stored, newest first. */
  heights(): number[];
  append(blocks: readonly BlockHead[]): void;
  /** Forgets every block above this height. */
  rewind(number: number): void;
  /** Forgets blocks below this height, but never the tip. */
  prune(number: number): void;
};

/** @param stored in ascending order, at least one. */
export function createLocalChain(stored: readonly BlockHead[]): LocalChain {
  let blocks = [...stored];
  const positions = new Map(blocks.map((block) => [block.number, block]));

  function keep(test: (block: BlockHead) => boolean): void {
    for (const block of blocks) if (!test(block)) positions.delete(block.number);
    blocks = blocks.filter(test);
  }

  function tip(): BlockHead {
    const last = blocks.at(-1);
    if (last === undefined) throw new Error('a local chain is never empty');
    return last;
  }

  return {
    tip,
    hashAt: (number) => positions.get(number)?.hash,
    atOrBelow: (number) => blocks.findLast((block) => block.number <= number),
    before: (timestamp) => blocks.findLast((block) => block.timestamp < timestamp),
    heights: () => blocks.map(({ number }) => number).reverse(),
    append(added) {
      for (const { number, hash, timestamp } of added) {
        if (number <= tip().number) throw new Error('blocks are appended in ascending order');
        const block = { number, hash, timestamp };
        blocks.push(block);
        positions.set(number, block);
      }
    },
    rewind: (number) => keep((block) => block.number <= number),
    prune: (number) => {
      const last = tip().number;
      keep((block) => block.number >= number || block.number === last);
    },
  };
}
