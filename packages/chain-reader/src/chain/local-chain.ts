import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlocksAt } from '../rpc/reads.ts';

export type BlockHead = Pick<Block, 'number' | 'hash' | 'timestamp'>;

export type LocalChain = ReturnType<typeof createLocalChain>;

/**
 * Our view of a chain's end: the stored blocks that a reorg may still remove, oldest first. Neighbours in height are linked by parent hash.
 * Below the finalized block there may be gaps, because catching up in ranges stores only each range's last block.
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
    /** The stored heights, newest first. */
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
    /** Drops every block above this height. */
    rewind: (number: number): void => keep((block) => block.number <= number),
    /** Drops the blocks below this height, but never the tip. */
    prune(number: number): void {
      const last = tip().number;
      keep((block) => block.number >= number || block.number === last);
    },
  };
}

/** The result of comparing the node's chain with ours, back from our tip. */
export type Fork =
  /** Our tip is on the node's chain, or the node is too far behind to tell. */
  | { kind: 'none' }
  /** The last block that both chains share. It is not below the finalized block. */
  | { kind: 'reorg'; ancestor: BlockHead }
  /** The node's chain has a different block at a height that was already final. */
  | { kind: 'below_finalized'; number: number; ours: string; theirs: string };

const BLOCKS_PER_STEP = 32;

/**
 * Finds the block where the node's chain leaves ours.
 * @param finalized height of the last final block. The search includes it, but no block below it.
 * @throws RpcError `unknown_block` when the node does not have the block that decides.
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
      // If the node has no different block above this one, it only lags.
      if (hash === ours) return lowest.kind === 'none' ? lowest : forkAbove(chain, number);
      if (hash !== undefined) lowest = { kind: 'below_finalized', number, ours, theirs: hash };
    }
  }
  // To prove that a final block has changed, the node must show a different block at its height, and not only above.
  if (lowest.kind === 'below_finalized' && lowest.number !== heights.at(-1))
    throw new RpcError('unknown_block', 'the node does not have the block that was final');
  return lowest;
}

function forkAbove(chain: LocalChain, number: number): Fork {
  const ancestor = chain.atOrBelow(number);
  if (ancestor === undefined || number === chain.tip().number) return { kind: 'none' };
  return { kind: 'reorg', ancestor };
}
