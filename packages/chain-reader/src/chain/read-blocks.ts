import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { inBatches, readBlocksAt, readReceipts, type TransactionsOfBlock } from '../rpc/reads.ts';
import { readEventsOfBlock, requireComplete, rulesOutTransfer, type CompleteBlock } from './block-events.ts';
import type { ChainNetwork } from './networks.ts';
import { readProvenTransfers } from './proven-transfers.ts';
import {
  decodeTransfer,
  locateTransfer,
  recipientOf,
  tokenEvents,
  transferFilter,
  type DecodedTransfer,
  type Transfer,
} from './transfers.ts';
import type { WatchSet } from './watch-set.ts';

/** A block whose header may not have been read: what its events say about it. */
export type BlockPlace = Pick<Block, 'number' | 'hash'> & {
  /** Unix seconds; null until the block's header is read. */
  timestamp: number | null;
};

/** A block and every transfer event of the token in it. */
export type BlockLogs = { block: BlockPlace; logs: Log[] };

/**
 * The token's events in these blocks. They are requested by the block's hash, so that a reorg in between cannot mix two chains. A block whose
 * header rules out a transfer needs no request. There may be several nodes behind one address, and one that is late does not have the
 * last blocks. Then only the blocks before them are returned.
 * @returns the first of the blocks, at least one.
 * @throws RpcError `unknown_block` when the node does not have the first one.
 */
export async function readLogsByHash(
  rpc: RpcProvider,
  network: ChainNetwork,
  blocks: readonly Block[],
): Promise<CompleteBlock[]> {
  const filter = transferFilter(network, null);
  const isOnly = blocks.length === 1;
  const answers = await inBatches(blocks, 1, (block) =>
    unlessUnknown(async () => {
      if (rulesOutTransfer(network, block)) return { block, logs: [] };
      const events = await readEventsOfBlock(rpc, block, filter, isOnly);
      return requireComplete(rpc, network, { block, logs: tokenEvents(network, events) }, isOnly);
    }),
  );
  const read: CompleteBlock[] = [];
  for (const answer of answers) {
    if (answer instanceof RpcError) {
      if (read.length === 0) throw answer;
      break;
    }
    read.push(answer);
  }
  return read;
}

/** @returns the error instead of an answer when the node does not have the block. */
async function unlessUnknown<T>(read: () => Promise<T>): Promise<T | RpcError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'unknown_block') return error;
    throw error;
  }
}

/** Whether this may be a transfer to a watched wallet. */
export function isWatchedTransfer({ token }: ChainNetwork, watches: Pick<WatchSet, 'has'>, log: Log): boolean {
  const recipient = recipientOf(token, log);
  return recipient !== null && watches.has(recipient);
}

/** Transfers that are read at once are stored in one transaction, which has a timeout. */
const MAX_MATCHES = 20_000;

/**
 * The transfers to watched wallets among these events. Where a block's hash proves its receipts, the transfers are read from those. On other
 * networks each is checked against the receipt of its transaction, and the headers of their blocks are read if they are not known yet: for
 * the timestamp, and to prove that the blocks are in the chain.
 * @param isWhole whether the entries have every transfer of the token.
 * @throws RpcError `range` when fewer blocks should be read at once.
 */
export async function matchTransfers(
  rpc: RpcProvider,
  network: ChainNetwork,
  entries: readonly BlockLogs[],
  watches: Pick<WatchSet, 'has'>,
  isWhole = true,
): Promise<Transfer[]> {
  const isWatched = (log: Log) => isWatchedTransfer(network, watches, log);
  const matched = entries.flatMap(({ block, logs }): MatchedBlock[] => {
    const matches = logs.filter(isWatched).flatMap((log) => decodeTransfer(network.token, log) ?? []);
    return matches.length === 0 ? [] : [{ block, matches }];
  });
  const count = matched.reduce((sum, { matches }) => sum + matches.length, 0);
  if (count > MAX_MATCHES && matched.length > 1)
    throw new RpcError(
      'range',
      `${String(count)} transfers to watched wallets exceed the ${String(MAX_MATCHES)} of one transaction`,
    );
  if (network.isProven) return readProvenTransfers(rpc, network, matched, { watches, isWhole });
  const [timestamps, receipts] = await Promise.all([
    readTimestamps(rpc, matched),
    readReceipts(rpc, matched.map(toTransactions)),
  ]);
  return matched.flatMap(({ block, matches }) =>
    matches.flatMap((decoded) => {
      const receipt = receipts.get(decoded.log.transactionHash);
      const timestamp = block.timestamp ?? timestamps.get(block.hash);
      if (receipt === undefined || timestamp === undefined) throw new Error('a match has no receipt or no block');
      return locateTransfer(decoded, receipt, timestamp) ?? [];
    }),
  );
}

/** @throws RpcError when a block is missing or two neighbours are not linked: the node's chain changed while it answered. */
export function requireLinked(found: readonly (Block | null)[]): Block[] {
  const blocks = found.filter((block) => block !== null);
  if (blocks.length < found.length)
    throw new RpcError('unknown_block', 'the node does not have a block below its own head');
  for (const [position, block] of blocks.entries()) {
    const below = blocks[position - 1];
    if (below !== undefined) requireSuccessor(block, below);
  }
  return blocks;
}

/**
 * Checks that a block directly follows another one.
 * @throws RpcError `invalid_answer` when the two are not linked, or time goes back. We state that everything up to the timestamp of the last
 *   final block is known, and on every supported chain timestamps never decrease.
 */
export function requireSuccessor(
  block: Pick<Block, 'parentHash' | 'timestamp'>,
  below: Pick<BlockPlace, 'hash' | 'timestamp'>,
): void {
  if (block.parentHash !== below.hash) throw new RpcError('invalid_answer', 'blocks that do not form a chain');
  if (below.timestamp !== null && block.timestamp < below.timestamp)
    throw new RpcError('invalid_answer', 'a block that is older than the one before it');
}

type MatchedBlock = { block: BlockPlace; matches: DecodedTransfer[] };

function toTransactions({ block, matches }: MatchedBlock): TransactionsOfBlock {
  return { blockHash: block.hash, transactions: [...new Set(matches.map(({ log }) => log.transactionHash))] };
}

/** By block hash, for the blocks whose header was not read before. */
async function readTimestamps(rpc: RpcProvider, matched: readonly MatchedBlock[]): Promise<Map<string, number>> {
  const missing = matched.map(({ block }) => block).filter(({ timestamp }) => timestamp === null);
  const found = await readBlocksAt(
    rpc,
    missing.map(({ number }) => number),
  );
  return new Map(
    missing.map(({ hash }, position) => {
      const block = found[position];
      if (block?.hash !== hash) throw new RpcError('invalid_answer', 'a log of a block outside the chain');
      return [hash, block.timestamp];
    }),
  );
}
