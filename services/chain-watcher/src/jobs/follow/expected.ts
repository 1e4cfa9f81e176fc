import { MAX_FILTERED_WALLETS } from '@quittance/chain-reader/chain/catch-up.ts';
import { NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/poll.ts';
import type { Expected } from '@quittance/chain-reader/chain/read-ahead.ts';
import { DEFAULT_MAX_BLOCK_RANGE } from '../../reading/adaptive-batch-size.ts';
import type { Term } from '../../term/term.ts';
import type { Pace } from './pace.ts';

/** What to ask for together with the head. @returns null for nothing. */
export function expectedAbove(
  { network, watches }: Pick<Term, 'network' | 'watches'>,
  pace: Pick<Pace, 'expects' | 'isAwake'>,
): Expected | null {
  const expects = pace.expects();
  if (expects === 'several' && !pace.isAwake()) {
    // Nobody waits for what such an answer might hide, and it is a fraction of all transfers of a minute.
    const wallets = watches.size() <= MAX_FILTERED_WALLETS ? [...watches.addresses()] : null;
    return { several: true, maxBlocks: network.max_block_range ?? DEFAULT_MAX_BLOCK_RANGE, wallets };
  }
  if (expects === 'several') return { several: true, maxBlocks: NEAR_HEAD_BLOCKS, wallets: null };
  // Where headers carry no filter, a block's events are needed whatever its header shows.
  const isWorthIt = expects === 'one' && network.mayHoldTransfer === null;
  return isWorthIt ? { several: false, maxBlocks: 1, wallets: null } : null;
}
