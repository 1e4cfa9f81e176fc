import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { findFork, type Fork } from '@quittance/chain-reader/chain/fork.ts';
import type { BlockHead, LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { lowerAudited, reviveWatchesEndedAfter } from '../store/audits.ts';
import { orphanBlocksAbove } from '../store/blocks.ts';
import { fence, haltNetwork, moveCursor } from '../store/cursor.ts';
import { raiseIncident } from '../store/incidents.ts';
import { settleResumption } from '../store/resumptions.ts';
import { retractTransfersAbove, type TransferRow } from '../store/transfers.ts';
import { publishTransfers, recordTransfers } from './publish.ts';
import type { ScanContext, Session } from './session.ts';
import { stateAtAncestor } from './state.ts';

/** Of the transfers that an incident lists; all of them are counted. */
const MAX_LISTED = 1_000;

/**
 * Goes back to the last block that both chains share: what lay above is orphaned and its transfers are retracted, newest
 * first. The new branch is read by the next look, as any other blocks.
 */
export function handleReorg(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  ancestor: BlockHead,
): Promise<void> {
  return walkBack(context, session, chain, ancestor, () => Promise.resolve());
}

/**
 * The nodes have another block where the chain had been final. That halts the network, but for a network whose operator has accepted the
 * nodes' chain: it goes back as far as our stored blocks reach, once.
 */
export async function handleDeepFork(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  fork: DeepFork,
): Promise<{ more: boolean }> {
  if (!session.mayAcceptFork) {
    const reason = `the nodes have another block ${String(fork.number)} than the one the chain had called final`;
    await halt(context, session, fork, reason);
    return { more: false };
  }
  const shared = await context.endpoints.ask((rpc) => findFork(rpc, chain, 0));
  // Another endpoint has answered this time, and it follows our chain: the next look says which of them counts.
  if (shared.kind === 'none') return { more: false };
  if (shared.kind === 'below_finalized') {
    const reason = `the fork cannot be accepted: of the blocks that are stored, back to block ${String(chain.heights().at(-1))}, the nodes have none`;
    await halt(context, session, shared, reason);
    return { more: false };
  }
  const { ancestor } = shared;
  await walkBack(context, session, chain, ancestor, (tx) =>
    settleResumption(tx, context.network.id, 'walked_back', ancestor.number),
  );
  session.mayAcceptFork = false;
  return { more: true };
}

/** Nodes that go on with our chain need no permission to leave it; one that is kept would be used for another fork than was meant. */
export async function dropPermission({ pool, network }: ScanContext, session: Session): Promise<void> {
  await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    await settleResumption(tx, network.id, 'not_needed', null);
  });
  session.mayAcceptFork = false;
}

type DeepFork = Extract<Fork, { kind: 'below_finalized' }>;

/** @param settle what else belongs into the transaction. */
async function walkBack(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  ancestor: BlockHead,
  settle: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { network, pool, metrics, logger } = context;
  const depth = chain.tip().number - ancestor.number;
  const finalized = Math.min(session.finalized, ancestor.number);
  const state = stateAtAncestor(network, { ...session, finalized }, chain, ancestor);
  const { rows, revived } = await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch: session.epoch, tip: ancestor, ...state });
    await lowerAudited(tx, network.id, ancestor.number);
    await orphanBlocksAbove(tx, network.id, ancestor.number);
    const retracted = await retractTransfersAbove(tx, network.id, ancestor.number);
    await publishTransfers(tx, context, retracted, ancestor.number);
    await reportConfirmed(tx, context, chain, retracted, depth);
    const wallets = await reviveWatchesEndedAfter(tx, network.id, ancestor.timestamp);
    await settle(tx);
    faultPoint('reorg-written');
    return { rows: retracted, revived: wallets };
  });
  chain.rewind(ancestor.number);
  Object.assign(session, state);
  for (const wallet of revived) session.watches.add(wallet);
  session.background.abandon();
  session.readers.rewind(ancestor.number);
  if (session.audited !== null) session.audited = Math.min(session.audited, ancestor.number);
  metrics.reorgDepth.observe({ network: network.id }, depth);
  logger.warn({ network: network.id, depth, block_number: ancestor.number }, 'the chain was reorganised');
  if (rows.some((row) => row.previous_phase === 'confirmed')) {
    metrics.incidents.inc({ network: network.id, kind: 'confirmed_transfers_retracted' });
    logger.error({ network: network.id, depth }, 'a reorg took back confirmed transfers');
  }
  recordTransfers(context, rows);
}

/** Whoever was told that these are confirmed has to hear that they are gone, from a person. */
async function reportConfirmed(
  tx: Transaction,
  { network }: ScanContext,
  chain: LocalChain,
  rows: readonly (TransferRow & { previous_phase: string })[],
  depth: number,
): Promise<void> {
  const confirmed = rows.filter((row) => row.previous_phase === 'confirmed');
  if (confirmed.length === 0) return;
  const transfers = confirmed.slice(0, MAX_LISTED).map((row) => ({
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: Number(row.block_number),
  }));
  await raiseIncident(tx, {
    network: network.id,
    kind: 'confirmed_transfers_retracted',
    // The branch that was left: two reorgs are two causes.
    cause: chain.tip().hash,
    detail: { depth, count: confirmed.length, transfers },
  });
}

/** Stops the network: its chain contradicts what it had called final, so nobody can say what to believe but an operator. */
async function halt(
  { network, pool, metrics, logger }: ScanContext,
  session: Session,
  fork: DeepFork,
  reason: string,
): Promise<void> {
  const detail = { block_number: fork.number, ours: fork.ours, theirs: fork.theirs, reason };
  await transaction(pool, async (tx) => {
    await haltNetwork(tx, network.id, session.epoch, reason);
    await settleResumption(tx, network.id, 'no_shared_block', null);
    await raiseIncident(tx, { network: network.id, kind: 'fork_below_finalized', cause: 'network', detail });
  });
  session.isHalted = true;
  metrics.incidents.inc({ network: network.id, kind: 'fork_below_finalized' });
  logger.error({ network: network.id, ...detail }, 'halted: a fork below the finalized block');
}
