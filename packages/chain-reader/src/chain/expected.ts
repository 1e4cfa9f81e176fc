import { MAX_FILTERED_WALLETS } from './catch-up.ts';
import type { ChainNetwork } from './networks.ts';
import { NEAR_HEAD_BLOCKS } from './poll.ts';
import type { Expected } from './read-ahead.ts';
import type { WatchSet } from './watch-set.ts';

/** What a look will probably find. */
export type Expectation = 'one' | 'several' | 'perhaps none';

/**
 * What to ask for together with the head.
 * @param look.isAwake whether anybody waits on the network.
 * @returns null for nothing.
 */
export function expectedAbove(
  { mayHoldTransfer, max_block_range: maxBlocks }: Pick<ChainNetwork, 'mayHoldTransfer' | 'max_block_range'>,
  watches: Pick<WatchSet, 'size' | 'addresses'>,
  { expects, isAwake }: { expects: Expectation; isAwake: boolean },
): Expected | null {
  if (expects === 'several' && !isAwake) {
    // Nobody waits for what such an answer might hide, and it is a fraction of all transfers of a minute.
    const wallets = watches.size() <= MAX_FILTERED_WALLETS ? [...watches.addresses()] : null;
    return { several: true, maxBlocks, wallets };
  }
  if (expects === 'several') return { several: true, maxBlocks: NEAR_HEAD_BLOCKS, wallets: null };
  // Where headers carry no filter, a block's events are needed whatever its header shows.
  const isWorthIt = expects === 'one' && mayHoldTransfer === null;
  return isWorthIt ? { several: false, maxBlocks: 1, wallets: null } : null;
}
