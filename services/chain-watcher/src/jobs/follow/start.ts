import { finalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import { createLocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { insertBlocks } from '../../store/blocks.ts';
import { moveCursor } from '../../store/cursor.ts';
import { createPosition, type WritablePosition } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';

/** Where the chain calls nothing final yet: deeper than nearly every reorg, and close enough to catch up at once. */
const START_CONFIRMATIONS = 128;

/**
 * Starts a network that was never scanned, at its last final block: earlier blocks matter to a watched wallet only by
 * back-filling, and everything that may still be reorganised is read block by block. Where no block is final, it starts at a deep one.
 */
export async function startAtFinalBlock({ network, endpoints, pool, epoch, logger }: Term): Promise<WritablePosition> {
  const { head, start, claim } = await endpoints.ask(async (rpc) => {
    const [newest, finalized] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
    const final = finalityClaim(network, newest.number, finalized, false);
    // A block that is called final needs its confirmations all the same, like any other.
    const depth = final === null ? START_CONFIRMATIONS : network.confirmations;
    const height = Math.min(final?.height ?? newest.number, newest.number - depth + 1);
    const block = await readBlockAt(rpc, Math.max(0, height));
    if (block === null) throw new RpcError('unknown_block', 'the node lacks a block below its own head');
    return { head: newest, start: block, claim: final };
  });
  const { number } = start;
  const final = claim === null ? null : start;
  const cursor = {
    head: head.number,
    finalized: final?.number ?? 0,
    final,
    largeFinal: final,
    hasNamedFinal: claim?.isNamed === true,
  };
  await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch, tip: start, ...cursor });
    await insertBlocks(tx, network.id, [start]);
  });
  logger.info({ network: network.id, block_number: number }, 'scanning starts');
  const finalHeight = final?.number ?? -1;
  const heights = { ...cursor, finalHeight, largeFinalHeight: finalHeight, confirmingTip: number };
  return createPosition(heights, createLocalChain([start]));
}
