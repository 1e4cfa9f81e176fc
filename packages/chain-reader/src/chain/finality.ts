import type { ChainNetwork } from './networks.ts';

/** The heights that decide what is final. */
export type Heights = {
  /** The last block scanned. */
  tip: number;
  /** The newest block of the node that answers. */
  head: number;
  /** The last block that the chain calls final. */
  finalized: number;
};

/** The last final block, as far as is known. */
export type FinalityClaim = {
  /** May be negative near genesis. */
  height: number;
  /** Whether a node has named this block; otherwise its depth counts. */
  isNamed: boolean;
};

/**
 * What a node's answer says about finality.
 * @param head height of the node's newest block.
 * @param tagged the node's answer for `finalized`; null when it names no block. Some nodes answer with their newest block for every tag that
 *   they do not know, so the newest block counts only on chains whose blocks are final immediately.
 * @param hasNamedFinal whether any endpoint of the network has ever named a final block. From then on, only a named one counts: a node
 *   that names none has just started, or is late.
 * @returns null for no news.
 */
export function finalityClaim(
  {
    confirmations_without_finalized: depth,
    instant_finality: isInstant = false,
  }: Pick<ChainNetwork, 'confirmations_without_finalized' | 'instant_finality'>,
  head: number,
  tagged: { number: number } | null,
  hasNamedFinal: boolean,
): FinalityClaim | null {
  if (tagged !== null && (isInstant || tagged.number < head)) return { height: tagged.number, isNamed: true };
  return depth === undefined || hasNamedFinal ? null : { height: head - depth + 1, isNamed: false };
}

/** @returns the number of blocks that confirm this one, including itself; 0 for a block above the tip. */
export function confirmationsOf(blockNumber: number, confirmingTip: number): number {
  return Math.max(0, confirmingTip - blockNumber + 1);
}

/**
 * The height from which confirmations are counted. It is the tip, which is linked by hashes to every block below it, not the head that a
 * node claims. The head counts only if the tip itself is final, because then it cannot be on another fork.
 */
export function confirmingTip({ tip, head, finalized }: Heights): number {
  return tip <= finalized ? Math.max(head, tip) : tip;
}

/** The highest blocks whose transfers may be confirmed. May be negative near genesis. */
export type FinalHeights = {
  finalHeight: number;
  /** The same for transfers above the network's cap. Never above `finalHeight`. */
  largeFinalHeight: number;
};

type Policy = Pick<ChainNetwork, 'confirmations' | 'finality' | 'finalizedAbove'>;

/**
 * The heights up to which the network's policy allows transfers to be confirmed. A final block still needs its confirmations, because some
 * nodes call their newest block final.
 */
export function finalHeights({ confirmations, finality, finalizedAbove }: Policy, heights: Heights): FinalHeights {
  const deepEnough = Math.min(heights.tip, confirmingTip(heights) - confirmations + 1);
  const calledFinal = Math.min(deepEnough, heights.finalized);
  const finalHeight = finality === 'finalized' ? calledFinal : deepEnough;
  return { finalHeight, largeFinalHeight: finalizedAbove === null ? finalHeight : calledFinal };
}

/** The height up to which a transfer of this amount, in base units of the token, may be confirmed. */
export function finalHeightOf(
  { finalizedAbove }: Pick<ChainNetwork, 'finalizedAbove'>,
  { finalHeight, largeFinalHeight }: FinalHeights,
  amountUnits: bigint,
): number {
  return finalizedAbove !== null && amountUnits > finalizedAbove ? largeFinalHeight : finalHeight;
}
