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

/** What one node shows of a range of final blocks. Whether it follows our tip is not known before it is joined to our chain. */
export type FinalRange = {
  endpoint: number;
  from: number;
  to: number;
  head: Block;
  /** The last block that the node calls final; null when it names none. */
  final: Block | null;
  range: RangeLogs;
  /** Only transfers to these were asked for; null for every transfer. */
  wallets: ReadonlySet<string> | null;
};

type ReadContext = { network: ChainNetwork; watches: Pick<WatchSet, 'has' | 'size' | 'addresses'> };

/**
 * Reads the blocks `from` to `to`, which a node has called final. The head is requested along with them, so that a long catch-up costs few
 * round trips a range.
 * @throws RpcError `range` when that is too much to ask; as poll() otherwise.
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
 * Joins a range of final blocks right above our tip to our chain, and picks the transfers to the wallets that are watched by now.
 * @param finalized of a block above our tip, as a node has reported it.
 * @param ahead the range as this node has shown it already; it is read again where another node is asked, or where it was read without a
 *   wallet that is watched by now. Null when nothing was read ahead.
 * @throws as readFinalRange().
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

function coversAll({ wallets }: FinalRange, watches: ReadContext['watches']): boolean {
  if (wallets === null) return true;
  for (const wallet of watches.addresses()) if (!wallets.has(wallet)) return false;
  return true;
}
