import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { BlockHead, LocalChain } from '../chain/local-chain.ts';
import type { Fork } from '../chain/fork.ts';
import { orphanBlocksAbove } from '../store/blocks.ts';
import { haltNetwork, moveCursor } from '../store/cursor.ts';
import { raiseIncident } from '../store/incidents.ts';
import { retractTransfersAbove } from '../store/transfers.ts';
import { publishTransfers, recordTransfers } from './publish.ts';
import type { ScanContext, Session } from './session.ts';
import { stateAtAncestor } from './state.ts';

/**
 * Goes back to the last block that both chains share: what lay above is orphaned and its transfers are retracted, newest
 * first. The new branch is read by the next look, as any other blocks.
 */
export async function handleReorg(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  ancestor: BlockHead,
): Promise<void> {
  const { network, pool, metrics, logger } = context;
  const depth = chain.tip().number - ancestor.number;
  const state = stateAtAncestor(network, session, chain, ancestor);
  const retracted = await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch: session.epoch, tip: ancestor, ...state });
    await orphanBlocksAbove(tx, network.id, ancestor.number);
    const rows = await retractTransfersAbove(tx, network.id, ancestor.number);
    await publishTransfers(tx, context, rows, ancestor.number);
    const confirmed = rows.filter((row) => row.previous_phase === 'confirmed');
    if (confirmed.length > 0) {
      const transfers = confirmed.map((row) => ({
        transaction_id: row.transaction_id,
        transaction_event_index: row.transaction_event_index,
        block_number: Number(row.block_number),
      }));
      await raiseIncident(tx, {
        network: network.id,
        kind: 'confirmed_transfers_retracted',
        detail: { depth, transfers },
      });
    }
    faultPoint('reorg-written');
    return rows;
  });
  chain.rewind(ancestor.number);
  Object.assign(session, state);
  metrics.reorgDepth.observe({ network: network.id }, depth);
  logger.warn({ network: network.id, depth, block_number: ancestor.number }, 'the chain was reorganised');
  if (retracted.some((row) => row.previous_phase === 'confirmed')) {
    metrics.incidents.inc({ network: network.id, kind: 'confirmed_transfers_retracted' });
    logger.error({ network: network.id, depth }, 'a reorg took back confirmed transfers');
  }
  recordTransfers(context, retracted);
}

/** Stops the network: its chain contradicts what it had called final, so nobody can say what to believe but an operator. */
export async function halt(
  { network, pool, metrics, logger }: ScanContext,
  session: Session,
  fork: Extract<Fork, { kind: 'below_finalized' }>,
): Promise<void> {
  const detail = { block_number: fork.number, ours: fork.ours, theirs: fork.theirs };
  await transaction(pool, async (tx) => {
    await haltNetwork(tx, network.id, session.epoch);
    await raiseIncident(tx, { network: network.id, kind: 'fork_below_finalized', detail });
  });
  session.isHalted = true;
  metrics.incidents.inc({ network: network.id, kind: 'fork_below_finalized' });
  logger.error({ network: network.id, ...detail }, 'halted: a fork below the finalized block');
}
