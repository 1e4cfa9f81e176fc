import type { Block } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readFinalized, readHead } from '../rpc/reads.ts';
import { finalityClaim, type FinalityClaim } from './finality.ts';
import type { ChainNetwork } from './networks.ts';
import { detectFork, type PollContext, type PollResult } from './poll.ts';
import { requireSuccessor } from './read-blocks.ts';
import { filterable, matchRange, readRange, type RangeLogs } from './read-range.ts';
import { findDeprecation } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** A range of final blocks, as one node shows it. Whether it follows our tip is checked only when it is joined to our chain. */
export type FinalRange = {
  endpoint: number;
  from: number;
  to: number;
  head: Block;
  /** The last block that the node calls final; null when it names none. */
  final: Block | null;
  range: RangeLogs;
  /** The wallets that the request was limited to; null for every transfer. */
  wallets: ReadonlySet<string> | null;
};

type ReadContext = { network: ChainNetwork; watches: Pick<WatchSet, 'has' | 'size' | 'addresses'> };

/**
 * Reads the blocks `from` to `to`, which a node has called final. The head is requested with them, so that a long catch-up takes few round
 * trips for each range.
 * @throws RpcError `range` when the range is too large; otherwise as poll() does.
 */
export async function readFinalRange(
  rpc: RpcProvider,
  { network, watches }: ReadContext,
  { from, to }: { from: number; to: number },
): Promise<FinalRange> {
  const wallets = filterable(watches);
  const [head, final, range] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    readRange(rpc, network, from, to, wallets),
  ]);
  return { endpoint: rpc.endpoint, from, to, head, final, range, wallets: wallets === null ? null : new Set(wallets) };
}

/**
 * Joins the range of final blocks directly above our tip to our chain, and picks the transfers to the wallets that are watched now.
 * @param finalized a block above our tip that a node has reported as final.
 * @param ahead the range as it was read before, or null. It is read again if it came from another node, or if it was read without a wallet
 *   that is watched now.
 * @throws as readFinalRange() does.
 */
export async function catchUp(
  rpc: RpcProvider,
  context: PollContext,
  finalized: FinalityClaim,
  ahead: FinalRange | null,
): Promise<PollResult> {
  const { network, watches } = context;
  const tip = context.chain.tip();
  const from = tip.number + 1;
  const span = { from, to: ahead?.to ?? Math.min(finalized.height, tip.number + context.maxBlocks) };
  const isUsable = ahead?.endpoint === rpc.endpoint && ahead.from === from && coversAll(ahead, watches);
  const { head, final, range, to } = isUsable ? ahead : await readFinalRange(rpc, context, span);
  const { first, last, entries } = range;
  if (first.parentHash !== tip.hash) return detectFork(rpc, context, head);
  if (final?.number === to && final.hash !== last.hash)
    throw new RpcError('invalid_answer', 'a different final block than the one at its height');
  requireSuccessor(first, tip);
  const claim = finalityClaim(network, head.number, final, context.hasNamedFinal);
  return {
    kind: 'blocks',
    head: Math.max(head.number, to),
    // A block that one node has called final stays final, even if this node has not got that far.
    finalized: claim !== null && claim.height > finalized.height ? claim : finalized,
    blocksToStore: [last],
    transfers: await matchRange(rpc, network, range, watches),
    deprecation: findDeprecation(network.token, entries),
  };
}

function coversAll({ wallets }: FinalRange, watches: ReadContext['watches']): boolean {
  if (wallets === null) return true;
  for (const wallet of watches.addresses()) if (!wallets.has(wallet)) return false;
  return true;
}
