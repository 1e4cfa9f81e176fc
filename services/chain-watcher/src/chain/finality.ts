import type { Network } from '@quittance/contracts/networks.ts';

/** Heights that decide what may be trusted. */
export type Heights = {
  /** The last block scanned. */
  tip: number;
  /** The last block the answering node has. */
  head: number;
  /** The last block that the chain calls final. */
  finalized: number;
};

/**
 * How deep a network without the `finalized` tag must bury a block before we refuse to see it change. Deeper than any
 * reorg of a working network, and shallow enough that a scan which starts there catches up at once.
 */
export const DEPTH_WITHOUT_FINALIZED_TAG = 128;

/** @returns the number of blocks that confirm this one, itself included; 0 for a block above the tip. */
export function confirmationsOf(blockNumber: number, confirmingTip: number): number {
  return Math.max(0, confirmingTip - blockNumber + 1);
}

/**
 * The height from which confirmations are counted. It is the tip, which is linked by hashes to every block below it, and not the head
 * that a node claims. Only for blocks that the chain itself calls final does the head count: they cannot be on another fork.
 */
export function confirmingTip({ tip, head, finalized }: Heights): number {
  return tip <= finalized ? Math.max(head, tip) : tip;
}

/** @returns the highest block whose transfers may be confirmed under the network's policy; may be negative near genesis. */
export function finalHeight(policy: Pick<Network, 'confirmations' | 'finality'>, heights: Heights): number {
  const confirmedHeight = confirmingTip(heights) - policy.confirmations + 1;
  const final =
    policy.finality === 'finalized'
      ? Math.min(confirmedHeight, heights.finalized)
      : Math.max(confirmedHeight, heights.finalized);
  return Math.min(heights.tip, final);
}
