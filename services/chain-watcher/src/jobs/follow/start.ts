import { finalizedHeight } from '@quittance/chain-reader/chain/finality.ts';
import { createLocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { insertBlocks } from '../../store/blocks.ts';
import { moveCursor } from '../../store/cursor.ts';
import { createPosition, type WritablePosition } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';

/**
 * Starts a network that was never scanned, at its last final block: earlier blocks matter to a watched wallet only by
 * back-filling, and everything that may still be reorganised is read block by block.
 */
export async function startAtFinalBlock({ network, endpoints, pool, epoch, logger }: Term): Promise<WritablePosition> {
  const { head, start } = await endpoints.ask(async (rpc) => {
    const [newest, finalized] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
    const height = Math.max(0, finalizedHeight(network, newest.number, finalized));
    const block = await readBlockAt(rpc, height);
    if (block === null) throw new RpcError('unknown_block', 'the node lacks a block below its own head');
    return { head: newest, start: block };
  });
  const { number } = start;
  const cursor = { head: head.number, finalized: number, final: start, largeFinal: start };
  await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch, tip: start, ...cursor });
    await insertBlocks(tx, network.id, [start]);
  });
  logger.info({ network: network.id, block_number: number }, 'scanning starts');
  const heights = { ...cursor, finalHeight: number, largeFinalHeight: number, confirmingTip: number };
  return createPosition(heights, createLocalChain([start]));
}
