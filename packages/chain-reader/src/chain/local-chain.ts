import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlocksAt } from '../rpc/reads.ts';

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

/** What walking back from our tip over the node's chain has shown. */
export type Fork =
  /** Our tip is on the node's chain after all, or the node is too far behind to decide. */
  | { kind: 'none' }
  /** Both chains share this block and none above it; it is not below the finalized one. */
  | { kind: 'reorg'; ancestor: BlockHead }
  /** The node's chain has another block where the chain had already been final. */
  | { kind: 'below_finalized'; number: number; ours: string; theirs: string };

const BLOCKS_PER_STEP = 32;

/**
 * Finds where the node's chain leaves ours.
 * @param finalized height of the last block known as final; looked at, but nothing below it.
 * @throws RpcError `unknown_block` when the node lacks the block that decides.
 */
export async function findFork(rpc: RpcProvider, chain: LocalChain, finalized: number): Promise<Fork> {
  const heights = chain.heights().filter((height) => height >= finalized);
  let lowest: Fork = { kind: 'none' };
  for (let start = 0; start < heights.length; start += BLOCKS_PER_STEP) {
    const step = heights.slice(start, start + BLOCKS_PER_STEP);
    const theirs = await readBlocksAt(rpc, step);
    for (const [position, number] of step.entries()) {
      const ours = chain.hashAt(number) ?? '';
      const hash = theirs[position]?.hash;
      // Without another block above it, the node only lacks what we have: it lags.
      if (hash === ours) return lowest.kind === 'none' ? lowest : forkAbove(chain, number);
      if (hash !== undefined) lowest = { kind: 'below_finalized', number, ours, theirs: hash };
    }
  }
  // To prove that what was final has changed, the node must show another block there, and not only above.
  if (lowest.kind === 'below_finalized' && lowest.number !== heights.at(-1))
    throw new RpcError('unknown_block', 'the node lacks the block that was final');
  return lowest;
}

function forkAbove(chain: LocalChain, number: number): Fork {
  const ancestor = chain.atOrBelow(number);
  if (ancestor === undefined || number === chain.tip().number) return { kind: 'none' };
  return { kind: 'reorg', ancestor };
}
