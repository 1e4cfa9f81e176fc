import { findFork, type BlockHead, type Fork } from '@quittance/chain-reader/chain/local-chain.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { orphanBlocksAbove } from '../blocks/block.sql.ts';
import { raiseIncident } from '../incidents/incident.sql.ts';
import { haltNetwork, lowerAudited, moveCursor } from '../leadership/cursor.sql.ts';
import { fencedTransaction, heightsAtAncestor, type Term, type WritablePosition } from '../leadership/term.ts';
import { settleResumption } from '../operators/resumption.sql.ts';
import { publishTransfers, recordTransfers } from '../transfers/publish.ts';
import { retractTransfersAbove, type TransferRow } from '../transfers/transfer.sql.ts';
import { reviveWatchesEndedAfter } from '../watches/watch.sql.ts';

/** `more`: there is more to read right away. `halted`: nothing is read until an operator resumes the network. */
export type FollowResult = 'more' | 'at_head' | 'halted';

type DeepFork = Extract<Fork, { kind: 'below_finalized' }>;

/** Of the transfers that an incident lists; all of them are counted. */
const MAX_LISTED = 1_000;

/** Goes back to where the nodes' chain leaves ours, or halts the network where it may not. */
export function createForkHandler(
  term: Term,
  position: WritablePosition,
  options: { mayAcceptFork: boolean; onRewind: (number: number) => void },
) {
  const { network } = term;
  const { chain } = position;
  let { mayAcceptFork } = options;

  /**
   * The nodes have another block where the chain had been final. That halts the network, unless its operator has accepted the
   * nodes' chain: then it goes back as far as our stored blocks reach, once.
   */
  async function handleDeepFork(fork: DeepFork): Promise<FollowResult> {
    if (!mayAcceptFork)
      return halt(
        term,
        fork,
        `the nodes have another block ${String(fork.number)} than the one the chain had called final`,
      );
    const shared = await term.endpoints.ask((rpc) => findFork(rpc, chain, 0));
    // Another endpoint has answered this time, and it follows our chain: the next poll decides between them.
    if (shared.kind === 'none') return 'at_head';
    if (shared.kind === 'below_finalized') {
      const oldest = String(chain.heights().at(-1));
      return halt(
        term,
        shared,
        `the fork cannot be accepted: of the blocks that are stored, back to block ${oldest}, the nodes have none`,
      );
    }
    const { ancestor } = shared;
    await rewind(term, position, ancestor, (tx) => settleResumption(tx, network.id, 'walked_back', ancestor.number));
    options.onRewind(ancestor.number);
    mayAcceptFork = false;
    return 'more';
  }

  return {
    async handle(fork: Fork): Promise<FollowResult> {
      if (fork.kind === 'none') return 'at_head';
      if (fork.kind === 'below_finalized') return handleDeepFork(fork);
      await rewind(term, position, fork.ancestor, () => Promise.resolve());
      options.onRewind(fork.ancestor.number);
      return 'more';
    },
    /** Whether an operator has allowed to follow the nodes below the finalized block. */
    mayAcceptFork: () => mayAcceptFork,
    /** Nodes that go on with our chain need no permission to leave it; one that is kept would be used for another fork than was meant. */
    async dropPermission(): Promise<void> {
      if (!mayAcceptFork) return;
      await fencedTransaction(term, (tx) => settleResumption(tx, network.id, 'not_needed', null));
      mayAcceptFork = false;
    },
  };
}

/**
 * Goes back to the last block that both chains share: what lay above is orphaned and its transfers are retracted, newest
 * first. The new branch is read by the next poll, as any other blocks.
 * @param settle what else belongs into the transaction.
 */
async function rewind(
  term: Term,
  position: WritablePosition,
  ancestor: BlockHead,
  settle: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { network, metrics, logger } = term;
  const { chain } = position;
  const tip = chain.tip();
  const depth = tip.number - ancestor.number;
  const heights = heightsAtAncestor(network, position.heights(), chain, ancestor);
  const { rows, revived } = await transaction(term.pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch: term.epoch, tip: ancestor, ...heights });
    await lowerAudited(tx, network.id, ancestor.number);
    await orphanBlocksAbove(tx, network.id, ancestor.number);
    const retracted = await retractTransfersAbove(tx, network.id, ancestor.number);
    await publishTransfers(tx, term, retracted, ancestor.number);
    // The branch that was left names the incident: two reorgs are two causes.
    await reportConfirmed(tx, network.id, tip.hash, { depth, rows: retracted.filter(wasConfirmed) });
    const wallets = await reviveWatchesEndedAfter(tx, network.id, ancestor.timestamp);
    await settle(tx);
    faultPoint('reorg-written');
    return { rows: retracted, revived: wallets };
  });
  chain.rewind(ancestor.number);
  position.set(heights);
  for (const wallet of revived) term.watches.add(wallet);
  metrics.reorgDepth.observe({ network: network.id }, depth);
  logger.warn({ network: network.id, depth, block_number: ancestor.number }, 'the chain was reorganised');
  if (rows.some(wasConfirmed)) {
    metrics.incidents.inc({ network: network.id, kind: 'confirmed_transfers_retracted' });
    logger.error({ network: network.id, depth }, 'a reorg retracted confirmed transfers');
  }
  recordTransfers(term, rows);
}

/** Payments may be paid by these transfers: a person has to decide what follows. */
async function reportConfirmed(
  tx: Transaction,
  network: string,
  cause: string,
  { depth, rows }: { depth: number; rows: readonly TransferRow[] },
): Promise<void> {
  if (rows.length === 0) return;
  const transfers = rows.slice(0, MAX_LISTED).map((row) => ({
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: Number(row.block_number),
  }));
  const detail = { depth, count: rows.length, transfers };
  await raiseIncident(tx, { network, kind: 'confirmed_transfers_retracted', cause, detail });
}

/** Its chain contradicts what it had called final: only an operator can decide which of the two to believe. */
async function halt(
  { network, pool, epoch, metrics, logger }: Term,
  fork: DeepFork,
  reason: string,
): Promise<FollowResult> {
  const detail = { block_number: fork.number, ours: fork.ours, theirs: fork.theirs, reason };
  await transaction(pool, async (tx) => {
    await haltNetwork(tx, network.id, epoch, reason);
    await settleResumption(tx, network.id, 'no_shared_block', null);
    await raiseIncident(tx, { network: network.id, kind: 'fork_below_finalized', cause: 'network', detail });
  });
  metrics.incidents.inc({ network: network.id, kind: 'fork_below_finalized' });
  logger.error({ network: network.id, ...detail }, 'halted: a fork below the finalized block');
  return 'halted';
}

const wasConfirmed = ({ previous_phase: phase }: { previous_phase: string }): boolean => phase === 'confirmed';
