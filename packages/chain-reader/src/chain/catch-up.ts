import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readFinalized, readHead } from '../rpc/reads.ts';
import { findDeprecation } from './deprecation.ts';
import { finalityClaim, type FinalityClaim } from './finality.ts';
import { detectFork, type PollResult, type PollContext } from './poll.ts';
import { requireSuccessor } from './read-blocks.ts';
import { matchRange, readRange } from './read-range.ts';

/** Up to this many wallets, the node filters by recipient; nodes accept up to 1,000 topics. */
export const MAX_FILTERED_WALLETS = 500;

/**
 * Reads a range of final blocks right above our tip. The head is requested along with it, so that a long catch-up costs few round trips
 * a range.
 * @param finalized of a block above our tip, as a node has reported it.
 * @throws RpcError `range` when that is too much to ask; as poll() otherwise.
 */
export async function catchUp(rpc: RpcProvider, context: PollContext, finalized: FinalityClaim): Promise<PollResult> {
  const { network, watches } = context;
  const tip = context.chain.tip();
  const to = Math.min(finalized.height, tip.number + context.maxBlocks);
  const wallets = watches.size() <= MAX_FILTERED_WALLETS ? [...watches.addresses()] : null;
  const [head, final, range] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    readRange(rpc, network, tip.number + 1, to, wallets),
  ]);
  const { first, last, entries } = range;
  if (first.parentHash !== tip.hash) return detectFork(rpc, context, head);
  if (final?.number === to && final.hash !== last.hash)
    throw new RpcError('invalid_answer', 'another final block than the one of its height');
  requireSuccessor(first, tip);
  const claim = finalityClaim(network, head.number, final, context.hasNamedFinal);
  return {
    kind: 'blocks',
    head: Math.max(head.number, to),
    // A block that one node has called final stays final, even if this node does not know it yet.
    finalized: claim !== null && claim.height > finalized.height ? claim : finalized,
    blocksToStore: [last],
    transfers: await matchRange(rpc, network, range, watches),
    deprecation: findDeprecation(network.token, entries),
  };
}
