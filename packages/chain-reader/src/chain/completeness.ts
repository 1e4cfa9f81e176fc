import type { ChainNetwork } from './networks.ts';
import type { Block, Log } from '../rpc/answers.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readReceipts } from '../rpc/reads.ts';
import { readEventsOfBlock } from './block-events.ts';
import { coversBloom, isBlank } from './bloom.ts';
import { tokenEvents } from './transfers.ts';

/** A block with its header and every transfer event of the token in it. */
export type CompleteBlock = { block: Block; logs: Log[] };

/** Whether the header alone proves that the block has no transfer of the token. */
export function provesNoTransfer(network: ChainNetwork, block: Block): boolean {
  if (isBlank(block.logsBloom)) return block.transactions.length === 0;
  return network.mayHoldTransfer?.(block.logsBloom) === false;
}

/**
 * Whether the header alone is enough to ask nothing more about the block. Not where events lie outside the filters, and not on Tron, whose
 * filters are always empty.
 */
export function rulesOutTransfer(network: ChainNetwork, block: Block): boolean {
  return network.hasEventsInBloom && provesNoTransfer(network, block);
}

/**
 * Does not accept an empty answer that the block's header does not prove. Where the header's filter allows transfers,
 * all events of the block are read, and they must account for the whole filter. Where the filter is blank, as always on
 * Tron, the receipts of the block decide. On other chains such a block is rare: its transactions move only coins.
 * @param isOnly as in readEventsOfBlock().
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
