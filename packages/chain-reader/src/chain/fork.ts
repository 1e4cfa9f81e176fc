import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlocksAt } from '../rpc/reads.ts';
import type { BlockHead, LocalChain } from './local-chain.ts';

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
