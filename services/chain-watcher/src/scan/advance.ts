import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { finalizedHeight } from '@quittance/chain-reader/chain/finality.ts';
import { createLocalChain, type LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { insertBlocks, pruneBlocksBelow } from '../store/blocks.ts';
import { Fenced, moveCursor } from '../store/cursor.ts';
import { confirmTransfers, insertTransfers } from '../store/transfers.ts';
import { nextPoll } from './next-poll.ts';
import { publishTransfers, recordTransfers } from './publish.ts';
import { handleDeepFork, handleReorg } from './reorg.ts';
import type { ScanContext, Session } from './session.ts';
import { stateAfter } from './state.ts';

/** Final blocks kept beyond what reorgs can need: to show where a fork is, and to date late watches cheaply. */
const KEPT_FINAL_BLOCKS = 256;
const PRUNE_EVERY_BLOCKS = 64;

/**
 * Begins a network that was never scanned, at its last final block: what came before belongs to nobody who watches now but
 * by back-filling, and everything that may still be reorganised is read block by block.
 */
export async function begin(context: ScanContext, session: Session): Promise<LocalChain> {
  const { network, pool } = context;
  const { head, start } = await context.endpoints.ask(async (rpc) => {
    const [newest, finalized] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
    const height = Math.max(0, finalizedHeight(network, newest.number, finalized));
    const block = await readBlockAt(rpc, height);
    if (block === null) throw new RpcError('unknown_block', 'the node lacks a block below its own head');
    return { head: newest, start: block };
  });
  const position = { head: head.number, finalized: start.number, final: start, largeFinal: start };
  await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch: session.epoch, tip: start, ...position });
    await insertBlocks(tx, network.id, [start]);
  });
  const heights = { finalHeight: start.number, largeFinalHeight: start.number, confirmingTip: start.number };
  Object.assign(session, { ...position, ...heights });
  context.logger.info({ network: network.id, block_number: start.number }, 'scanning begins');
  return createLocalChain([start]);
}

/** Polls the chain once and stores what it shows. @returns whether there is more to read right away. */
export async function advance(context: ScanContext, session: Session, chain: LocalChain): Promise<{ more: boolean }> {
  const result = await nextPoll(context, session, chain);
  if (result === null) return { more: true };
  if (!session.leadership.isHeld()) throw new Fenced(`${context.network.id}: the lead was lost while reading`);
  session.head = result.head;
  if (result.kind === 'no_new_blocks') return { more: false };
  if (result.kind === 'blocks') return storeBlocks(context, session, chain, result);
  if (result.fork.kind === 'reorg') {
    await handleReorg(context, session, chain, result.fork.ancestor);
    return { more: true };
  }
  if (result.fork.kind === 'below_finalized') return handleDeepFork(context, session, chain, result.fork);
  return { more: false };
}

/** Commits blocks, transfers, messages and cursor together: after a crash either all of it happened or none. */
async function storeBlocks(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  result: Extract<PollResult, { kind: 'blocks' }>,
): Promise<{ more: boolean }> {
  const { network, pool } = context;
  const tip = result.blocksToStore.at(-1);
  if (tip === undefined) return { more: false };
  const state = stateAfter(network, session, chain, result, tip);
  const prune = Math.floor(tip.number / PRUNE_EVERY_BLOCKS) > Math.floor(chain.tip().number / PRUNE_EVERY_BLOCKS);
  const keepFrom = Math.min(state.finalized, state.finalHeight) - KEPT_FINAL_BLOCKS;
  faultPoint('blocks-read');
  const rows = await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch: session.epoch, tip, ...state });
    await insertBlocks(tx, network.id, result.blocksToStore);
    const found = await insertTransfers(tx, network.id, result.transfers);
    const confirmed = await confirmTransfers(tx, network, state);
    await publishTransfers(tx, context, [...found, ...confirmed], state.confirmingTip);
    if (prune) await pruneBlocksBelow(tx, network.id, keepFrom);
    faultPoint('blocks-written');
    return [...found, ...confirmed];
  });
  faultPoint('blocks-committed');
  const scannedBefore = chain.tip().number;
  chain.append(result.blocksToStore);
  if (prune) chain.prune(keepFrom);
  Object.assign(session, state);
  context.metrics.blocksScanned.inc({ network: network.id }, tip.number - scannedBefore);
  recordTransfers(context, rows);
  return { more: tip.number < result.head };
}
