import type { Block, Log, Receipt } from '../rpc/answers.ts';
import { RpcError, type RpcErrorKind } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readLogsOfBlock, readReceipts, type LogFilter } from '../rpc/reads.ts';
import { coversBloom, isBlank } from './bloom.ts';
import type { ChainNetwork } from './networks.ts';
import { tokenEvents } from './transfers.ts';

/** The node does not answer this question, but it may answer another one about the same blocks. */
const REFUSALS: readonly RpcErrorKind[] = ['range', 'unsupported'];

export const isRefusal = (error: unknown): boolean => error instanceof RpcError && REFUSALS.includes(error.kind);

/**
 * The events of one block. A node may refuse any request for them: Tron's nodes limit the number of events, others require an address, do not
 * offer eth_getLogs or are too slow for it. The receipts of the block's transactions hold the same events, so every block can be read.
 * @param filter what to ask for; the answer may hold more. An empty answer to a filter proves nothing: see requireComplete().
 * @param isOnly whether no other block is read at the same time, so that the request cannot be made smaller.
 * @throws RpcError `range` when fewer blocks should be read at once.
 */
export async function readEventsOfBlock(
  rpc: RpcProvider,
  block: Block,
  filter: LogFilter | null,
  isOnly: boolean,
): Promise<Log[]> {
  try {
    // If the header's Bloom filter is not empty, the caller asks for all events after an empty answer.
    const isProvedNext = filter !== null && !isBlank(block.logsBloom);
    const logs = await readLogsOfBlock(rpc, block.hash, filter, isProvedNext);
    if (logs.some(({ blockNumber }) => blockNumber !== block.number))
      throw new RpcError('invalid_answer', 'an event with a different height than its block');
    return looksCutOff(logs) ? await readEventsFromReceipts(rpc, block) : logs;
  } catch (error) {
    // A single block is never refused as a range, so here the whole batch is too large.
    const isTooLarge = error instanceof RpcError && error.kind === 'range' && !isOnly;
    if (isTooLarge || !isRefusal(error)) throw error;
    return readEventsFromReceipts(rpc, block);
  }
}

/** Some nodes silently cut an answer off at their limit. These limits are round numbers. */
export const looksCutOff = (logs: readonly Log[]): boolean => logs.length > 0 && logs.length % 1000 === 0;

/**
 * Every event of one block, from the receipts of its transactions. The header lists the transactions, and the events must explain its Bloom
 * filter, if it has one. Not every node has Polygon's state syncs in these. A receipt that is not in the list counts, too.
 * @throws RpcError `invalid_answer` when a receipt is missing, or the events do not explain the Bloom filter.
 */
async function readEventsFromReceipts(rpc: RpcProvider, block: Block): Promise<Log[]> {
  const receipts = await readReceipts(rpc, [{ blockHash: block.hash, transactions: block.transactions }]);
  // In the order of the block's list, then the receipts that are not in it.
  const inOrder = new Set([...block.transactions, ...receipts.keys()]);
  const logs = [...inOrder].flatMap((hash) => eventsOf(receipts.get(hash), block));
  if (!coversBloom(logs, block.logsBloom))
    throw new RpcError('invalid_answer', "a block's receipts lack some of its events");
  return logs;
}

/** Receipts of failed transactions have events on Tron. These do not count. */
function eventsOf(receipt: Receipt | undefined, block: Block): Log[] {
  if (receipt === undefined) return [];
  const { succeeded, transactionHash, logs } = receipt;
  const isOwn = (log: Log) =>
    log.transactionHash === transactionHash && log.blockHash === block.hash && log.blockNumber === block.number;
  if (!logs.every(isOwn)) throw new RpcError('invalid_answer', 'an event of a different transaction than its receipt');
  return succeeded ? logs : [];
}

/** A block with its header and every transfer event of the token in it. */
export type CompleteBlock = { block: Block; logs: Log[] };

/** Whether the header alone proves that the block has no transfer of the token. */
export function provesNoTransfer(network: ChainNetwork, block: Block): boolean {
  if (isBlank(block.logsBloom)) return block.transactions.length === 0;
  return network.mayHoldTransfer?.(block.logsBloom) === false;
}

/**
 * Whether the header is enough, so that nothing more is asked about the block. Never on chains with events outside the Bloom filter, nor on
 * Tron, whose filters are always empty.
 */
export function rulesOutTransfer(network: ChainNetwork, block: Block): boolean {
  return network.hasEventsInBloom && provesNoTransfer(network, block);
}

/**
 * Checks an empty answer that the block's header does not prove. If the header's Bloom filter allows transfers, all events of the block are
 * read, and they must explain the whole filter. If the filter is blank, as always on Tron, the block's receipts decide. On other chains
 * such a block is rare: its transactions move only coins.
 * @param isOnly see readEventsOfBlock().
 * @throws RpcError `invalid_answer` when the node has left events out.
 */
export async function requireComplete(
  rpc: RpcProvider,
  network: ChainNetwork,
  entry: CompleteBlock,
  isOnly: boolean,
): Promise<CompleteBlock> {
  const { block, logs } = entry;
  if (logs.length > 0 || provesNoTransfer(network, block)) return entry;
  if (isBlank(block.logsBloom)) {
    await requireNoTransfer(rpc, network, block);
    return entry;
  }
  const all = await readEventsOfBlock(rpc, block, null, isOnly);
  if (!coversBloom(all, block.logsBloom)) throw new RpcError('invalid_answer', 'events are missing from a block');
  return { block, logs: tokenEvents(network, all) };
}

async function requireNoTransfer(rpc: RpcProvider, network: ChainNetwork, block: Block): Promise<void> {
  const receipts = await readReceipts(rpc, [{ blockHash: block.hash, transactions: block.transactions }]);
  for (const { succeeded, logs } of receipts.values()) {
    if (succeeded && tokenEvents(network, logs).length > 0)
      throw new RpcError('invalid_answer', 'a receipt has an event that is missing from its block');
  }
}
