import { findFork, type BlockHead, type Fork } from '@quittance/chain-reader/chain/local-chain.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { orphanBlocksAbove } from '../blocks/block.sql.ts';
import { raiseIncident } from '../incidents/incident.sql.ts';
import { reportIncident } from '../incidents/report.ts';
import { haltNetwork, lowerAudited, moveCursor } from '../leadership/cursor.sql.ts';
import { fencedTransaction, heightsAtAncestor, type Term, type WritablePosition } from '../leadership/term.ts';
import { settleResumption } from '../operators/resumption.sql.ts';
import { publishTransfers, recordTransfers } from '../transfers/publish.ts';
import { retractTransfersAbove, type TransferRow } from '../transfers/transfer.sql.ts';
import { reviveWatchesEndedAfter } from '../watches/watch.sql.ts';

/** `more`: there is more to read immediately. `halted`: nothing is read until an operator resumes the network. */
export type FollowResult = 'more' | 'at_head' | 'halted';

type DeepFork = Extract<Fork, { kind: 'below_finalized' }>;

/** Most transfers that an incident lists. It counts all of them. */
const MAX_LISTED = 1_000;

/** Goes back to the block where the nodes' chain leaves ours, or halts the network if it must not go back that far. */
export function createForkHandler(
  term: Term,
  position: WritablePosition,
  options: { mayAcceptFork: boolean; onRewind: (number: number) => void },
) {
  const { network } = term;
  const { chain } = position;
  let { mayAcceptFork } = options;

  /**
   * The nodes have a different block at a height that was final. This halts the network, unless an operator has accepted the nodes' chain.
   * In that case the scan goes back, once, as far as our stored blocks reach.
   */
  async function handleDeepFork(fork: DeepFork): Promise<FollowResult> {
    if (!mayAcceptFork)
      return halt(
        term,
        fork,
        `the nodes have another block ${String(fork.number)} than the one the chain had called final`,
      );
    const shared = await term.endpoints.ask((rpc) => findFork(rpc, chain, 0));
    // This time another endpoint has answered, and it follows our chain. The next poll decides between them.
    if (shared.kind === 'none') return 'at_head';
    if (shared.kind === 'below_finalized') {
      const oldest = String(chain.heights().at(-1));
      return halt(
        term,
        shared,
        `the fork cannot be accepted: the nodes have none of the stored blocks, of which the oldest is ${oldest}`,
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
    /** Whether an operator has allowed the scan to follow the nodes below the finalized block. */
    mayAcceptFork: () => mayAcceptFork,
    /** The nodes have continued our chain, so the permission is not needed. If it were kept, a different fork might use it. */
    async dropPermission(): Promise<void> {
      if (!mayAcceptFork) return;
      await fencedTransaction(term, (tx) => settleResumption(tx, network.id, 'not_needed', null));
      mayAcceptFork = false;
    },
  };
}

/**
 * Goes back to the last block that both chains share. The blocks above it are orphaned, and their transfers are retracted, newest
 * first. The next poll reads the new branch like any other blocks.
 * @param settle what else to store in the same transaction.
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
    // The abandoned branch identifies the incident: two reorgs are two causes.
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

/** These transfers may have paid payments, so a person has to decide what to do. */
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

/** The nodes contradict what was final. Only an operator can decide which of the two to believe. */
async function halt(term: Term, fork: DeepFork, reason: string): Promise<FollowResult> {
  const { network, pool, epoch } = term;
  const detail = { block_number: fork.number, ours: fork.ours, theirs: fork.theirs, reason };
  const incident = { kind: 'fork_below_finalized', cause: 'network', detail } as const;
  await transaction(pool, async (tx) => {
    await haltNetwork(tx, network.id, epoch, reason);
    await settleResumption(tx, network.id, 'no_shared_block', null);
    await reportIncident(tx, term, incident, 'halted: a fork below the finalized block');
  });
  return 'halted';
}

const wasConfirmed = ({ previous_phase: phase }: { previous_phase: string }): boolean => phase === 'confirmed';
