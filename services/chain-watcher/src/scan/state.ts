import { confirmingTip, finalHeights, type FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { BlockHead, LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { FinalBlock } from '../store/cursor.ts';

/** What every commit of a scan says of the network beside the blocks, in the cursor and in memory. */
export type ScanState = FinalHeights & {
  /** Height of the last head seen. */
  head: number;
  /** Never goes back; a fork below it halts the network. */
  finalized: number;
  /** Stored block up to which everything is scanned and final; null near genesis. */
  final: FinalBlock | null;
  /** The same for transfers above the network's cap. */
  largeFinal: FinalBlock | null;
  /** Height from which confirmations are counted. */
  confirmingTip: number;
};

/** What holds once these blocks are stored. */
export function stateAfter(
  network: ChainNetwork,
  before: ScanState,
  chain: LocalChain,
  { head, finalized, blocksToStore }: Extract<PollResult, { kind: 'blocks' }>,
  tip: BlockHead,
): ScanState {
  // A lagging endpoint may call less final than was final before; what was final stays it.
  const known = Math.max(before.finalized, finalized);
  const heights = { tip: tip.number, head, finalized: known };
  const { finalHeight, largeFinalHeight } = finalHeights(network, heights);
  const further = (height: number, present: FinalBlock | null): FinalBlock | null => {
    const block = blocksToStore.findLast(({ number }) => number <= height) ?? chain.atOrBelow(height);
    return block !== undefined && block.number > (present?.number ?? -1) ? toFinal(block) : present;
  };
  return {
    head,
    finalized: Math.min(known, tip.number),
    final: further(finalHeight, before.final),
    largeFinal: further(largeFinalHeight, before.largeFinal),
    finalHeight: Math.max(finalHeight, before.finalHeight),
    largeFinalHeight: Math.max(largeFinalHeight, before.largeFinalHeight),
    confirmingTip: confirmingTip(heights),
  };
}

/** What holds once our chain ends at this ancestor. What was final and is still there stays final. */
export function stateAtAncestor(
  network: ChainNetwork,
  before: ScanState,
  chain: LocalChain,
  ancestor: BlockHead,
): ScanState {
  const { head, finalized } = before;
  const heights = finalHeights(network, { tip: ancestor.number, head: ancestor.number, finalized });
  const back = (height: number, present: FinalBlock | null): FinalBlock | null => {
    if (present === null || present.number <= ancestor.number) return present;
    const earlier = chain.atOrBelow(height);
    return earlier === undefined ? null : toFinal(earlier);
  };
  const backHeight = (height: number, known: number) => (known <= ancestor.number ? known : height);
  return {
    head,
    finalized,
    final: back(heights.finalHeight, before.final),
    largeFinal: back(heights.largeFinalHeight, before.largeFinal),
    finalHeight: backHeight(heights.finalHeight, before.finalHeight),
    largeFinalHeight: backHeight(heights.largeFinalHeight, before.largeFinalHeight),
    confirmingTip: ancestor.number,
  };
}

const toFinal = ({ number, timestamp }: BlockHead): FinalBlock => ({ number, timestamp });
