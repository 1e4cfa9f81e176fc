import type { Block } from '../rpc/answers.ts';

export type BlockHead = Pick<Block, 'number' | 'hash' | 'timestamp'>;

export type LocalChain = ReturnType<typeof createLocalChain>;

/**
 * Our own view of a chain's end: the blocks that were scanned and stored and may still be reorganised away, oldest first.
 * Every two neighbours in height are linked by parent hash. Below the finalized block there may be holes, because catching
 * up in ranges stores only each range's last block.
 * @param stored in ascending order, at least one.
 */
export function createLocalChain(stored: readonly BlockHead[]) {
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
    /** @returns undefined for a height that is not stored. */
    hashAt: (number: number): string | undefined => positions.get(number)?.hash,
    /** The highest stored block at or below this height. */
    atOrBelow: (number: number): BlockHead | undefined => blocks.findLast((block) => block.number <= number),
    /** The highest stored block mined before this time (Unix seconds). */
    before: (timestamp: number): BlockHead | undefined => blocks.findLast((block) => block.timestamp < timestamp),
    /** Heights that are stored, newest first. */
    heights: (): number[] => blocks.map(({ number }) => number).reverse(),
    append(added: readonly BlockHead[]): void {
      for (const { number, hash, timestamp } of added) {
        if (number <= tip().number)
          throw new Error(`block ${String(number)} is not above the tip, ${String(tip().number)}`);
        const block = { number, hash, timestamp };
        blocks.push(block);
        positions.set(number, block);
      }
    },
    /** Forgets every block above this height. */
    rewind: (number: number): void => keep((block) => block.number <= number),
    /** Forgets blocks below this height, but never the tip. */
    prune(number: number): void {
      const last = tip().number;
      keep((block) => block.number >= number || block.number === last);
    },
  };
}
