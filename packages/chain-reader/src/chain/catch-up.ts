import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readFinalized, readHead } from '../rpc/reads.ts';
import type { BlockHead } from './local-chain.ts';
import { finalizedHeight } from './finality.ts';
import { detectFork, type PollResult, type PollContext } from './poll.ts';
import { matchTransfers } from './read-blocks.ts';
import { readRange } from './read-range.ts';

/** Up to so many wallets, a node is asked for their transfers only; nodes take up to 1,000 topics. */
const MAX_FILTERED_WALLETS = 500;

/**
 * Reads a range of final blocks right above this one, which is our tip or will be it. The head is asked for along with it, so a long way back costs few round
 * trips a range.
 * @param finalized height of a final block above our tip, as a node has said it before.
 * @throws RpcError `range` when so many blocks are too much to ask; as look() otherwise.
 */
export async function catchUp(
  rpc: RpcProvider,
  from: PollContext,
  tip: BlockHead,
  finalized: number,
): Promise<PollResult> {
  const { network, watches } = from;
  const to = Math.min(finalized, tip.number + from.maxBlocks);
  const wallets = watches.size() <= MAX_FILTERED_WALLETS ? [...watches.addresses()] : null;
  const [head, final, { first, last, entries }] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    readRange(rpc, network, tip.number + 1, to, wallets),
  ]);
  if (first.parentHash !== tip.hash) return detectFork(rpc, from, head);
  if (final?.number === to && final.hash !== last.hash)
    throw new RpcError('invalid_answer', 'another final block than the one of its height');
  if (first.timestamp < tip.timestamp)
    throw new RpcError('invalid_answer', 'a block that is older than the one before it');
  return {
    kind: 'blocks',
    head: Math.max(head.number, to),
    // What one node has called final stays it, whatever this one knows.
    finalized: Math.max(finalized, finalizedHeight(network, head.number, final)),
    blocksToStore: [last],
    transfers: await matchTransfers(rpc, network, entries, watches),
  };
}
