import { readProvenBlock, type ProvenBlock } from './proven-block.ts';
import type { Log } from '../rpc/answers.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { inBatches } from '../rpc/reads.ts';
import type { ChainNetwork } from './networks.ts';
import { decodeTransfer, isSameEvent, type DecodedTransfer, type Transfer } from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** Calls to count for a block: its receipts are large, so that a batch should hold few. */
const CALLS_OF_A_BLOCK = 12;

type MatchedBlock = { block: { number: number; hash: string }; matches: readonly DecodedTransfer[] };

/**
 * The transfers to watched wallets in these blocks, from their receipts, which are proved by the blocks' hashes.
 * @param matched the blocks, with those transfers that the node has shown. One that it has left out is found all the same.
 * @param isWhole whether the node was asked for every transfer of the token.
 * @throws RpcError `invalid_answer` when a block is not proved, or does not contain a transfer that the node has shown.
 */
export async function readProvenTransfers(
  rpc: RpcProvider,
  network: ChainNetwork,
  matched: readonly MatchedBlock[],
  { watches, isWhole }: { watches: Pick<WatchSet, 'has'>; isWhole: boolean },
): Promise<Transfer[]> {
  const found = await inBatches(matched, CALLS_OF_A_BLOCK, async ({ block, matches }) => {
    const proven = await readProvenBlock(rpc, block);
    const shown = matches.map(({ log }) => log);
    const transfers = transfersIn(proven, network, watches);
    if (!shown.every((log) => transfers.some((transfer) => isSamePlace(transfer.log, log))))
      throw rpc.disproved(`block ${String(block.number)} does not contain an event that was shown of it`);
    if (isWhole && transfers.length > shown.length)
      rpc.disproved(`block ${String(block.number)} contains an event that was left out`);
    return transfers.map(({ log: _, ...transfer }) => transfer);
  });
  return found.flat();
}

function transfersIn(
  { block, receipts, proofOf }: ProvenBlock,
  { token }: Pick<ChainNetwork, 'token'>,
  watches: Pick<WatchSet, 'has'>,
): (Transfer & { log: Log })[] {
  return receipts.flatMap(({ succeeded, logs, transactionHash }, index) =>
    succeeded
      ? logs.flatMap((log, position) => {
          const decoded = decodeTransfer(token, log);
          if (decoded === null || !watches.has(decoded.to)) return [];
          const place = { blockNumber: block.number, blockHash: block.hash, blockTimestamp: block.timestamp };
          const event = { transactionId: transactionHash.slice(2), transactionEventIndex: position };
          return [{ ...decoded, ...event, ...place, proof: proofOf(index) }];
        })
      : [],
  );
}

const isSamePlace = (a: Log, b: Log): boolean => a.logIndex === b.logIndex && isSameEvent(a, b);
