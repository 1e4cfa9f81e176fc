import { matchRange, readRange, requireOurBlocks, type RangeLogs } from '@quittance/chain-reader/chain/read-range.ts';
import type { Read } from '@quittance/chain-reader/rpc/endpoint.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readTransfersOfBlocks } from '../store/transfers.ts';
import { readWatchSpans, type WatchSpan } from '../store/watches.ts';
import { findDeprecation, type Deprecation } from '@quittance/chain-reader/chain/deprecation.ts';
import { decodeTransfer, type Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { BLOCK_TIME_MARGIN_SECONDS } from '../reading/block-time.ts';
import type { ChainView } from '../term/position.ts';
import type { Term } from '../term/term.ts';

export type BlockSpan = { from: number; to: number };

/** Final blocks read a second time. */
export type SecondReading = BlockSpan & {
  /** What was stored of these blocks before they were read. */
  expected: Transfer[];
  transfers: Transfer[];
  deprecation: Deprecation | null;
  /** The one that answered. */
  endpoint: number;
};

/** `than`: the endpoint that the blocks were read from; `orSame`: whether it may answer as well where no other one can. */
type From = { than: number; orSame: boolean };

/**
 * Reads final blocks a second time and picks the transfers to every wallet that is watched, that was watched when its block came, or that a
 * stored transfer of these blocks went to.
 * @throws RpcError also when a node shows other blocks than those we have: it follows another fork, and its answer is not used.
 */
export async function readSpan(
  term: Term,
  chain: ChainView,
  { from, to }: BlockSpan,
  source: From,
): Promise<SecondReading> {
  const { network, pool, watches } = term;
  const expected = await readTransfersOfBlocks(pool, network.id, from, to);
  return askAnother(term, source, async (rpc) => {
    const range = await readRange(rpc, network, from, to, null);
    // A stored transfer names its block, also where the block itself is stored no more.
    const named = new Map(expected.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]));
    requireOurBlocks(range, (number) => chain.hashAt(number) ?? named.get(number));
    const wanted = new Set(expected.map((transfer) => transfer.to));
    for (const wallet of await endedSince(term, range)) wanted.add(wallet);
    const isWanted = (address: string) => watches.has(address) || wanted.has(address);
    const transfers = await matchRange(rpc, network, range, { has: isWanted });
    const deprecation = findDeprecation(network.token, range.entries);
    return { from, to, expected, transfers, deprecation, endpoint: rpc.endpoint };
  });
}

/** An only endpoint is asked again. */
async function askAnother<T>({ endpoints }: Term, { than, orSame }: From, read: Read<T>): Promise<T> {
  try {
    const answer = await endpoints.askAnother(read, than);
    if (answer !== null) return answer;
  } catch (error) {
    if (!orSame || !(error instanceof RpcError) || error.kind === 'range') throw error;
  }
  return endpoints.ask(read);
}

/** Whether a scan without fault would have stored this transfer. What a back-fill still has to read is no fault of the scan's. */
export function wasWatched(watch: WatchSpan, transfer: Pick<Transfer, 'blockNumber' | 'blockTimestamp'>): boolean {
  const earliest = watch.watchedFrom.getTime() / 1000 - BLOCK_TIME_MARGIN_SECONDS;
  if (transfer.blockTimestamp < earliest) return false;
  switch (watch.state) {
    case 'new':
      return false;
    case 'backfilling':
      return watch.backFillTo !== null && transfer.blockNumber > watch.backFillTo;
    case 'watching':
      return true;
    case 'ended':
      return watch.endedThrough !== null && transfer.blockTimestamp * 1000 < watch.endedThrough.getTime();
  }
}

/** Of the recipients in this range, those whose watching ended only after it. They are in no watch set any more. */
async function endedSince({ network, pool, watches }: Term, { first, entries }: RangeLogs): Promise<string[]> {
  const recipients = new Set<string>();
  for (const log of entries.flatMap(({ logs }) => logs)) {
    const decoded = decodeTransfer(network.token, log);
    if (decoded !== null && !watches.has(decoded.to)) recipients.add(decoded.to);
  }
  if (recipients.size === 0) return [];
  const spans = await readWatchSpans(pool, network.id, [...recipients]);
  return spans
    .filter(({ endedThrough }) => endedThrough !== null && endedThrough.getTime() > first.timestamp * 1000)
    .map(({ address }) => address);
}
