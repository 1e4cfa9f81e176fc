import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { LocalChain } from '../chain/local-chain.ts';
import { matchTransfers, type BlockLogs } from '../chain/read-blocks.ts';
import type { ChainNetwork } from '../networks.ts';
import { RpcError } from '../rpc/errors.ts';
import type { RpcProvider } from '../rpc/provider.ts';
import { readBlockAt, readBlocksAt, readLogsOfRange } from '../rpc/reads.ts';
import { fence } from '../store/cursor.ts';
import { confirmTransfers, insertTransfers } from '../store/transfers.ts';
import { advanceBackFills, planWatches, readBackFills, type BackFill, type NewWatch } from '../store/watches.ts';
import { transferTopics, type Transfer } from '../transfers.ts';
import { publishTransfers, recordTransfers } from './publish.ts';
import { MAX_BACK_FILL_BLOCKS, type ScanContext, type Session } from './session.ts';

/** A block's timestamp may lie this much before the payment it pays: clocks of validators lag. Source: the API's rules. */
export const BLOCK_TIME_MARGIN_SECONDS = 15;
const MAX_WALLETS_AT_ONCE = 200;

/**
 * Decides which of the blocks already scanned new wallets still need, and stores it, so that a crash forgets nothing.
 * Blocks scanned from now on match them anyway: they must be in the session's watch set before.
 */
export async function planNewWatches(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  watches: readonly NewWatch[],
): Promise<void> {
  const earliest = watches[0];
  if (earliest === undefined) return;
  const from = Math.floor(earliest.watchedFrom.getTime() / 1000) - BLOCK_TIME_MARGIN_SECONDS;
  const tip = chain.tip();
  const backFill = tip.timestamp < from ? null : { from: await firstBlockSince(context, chain, from), to: tip.number };
  await transaction(context.pool, async (tx) => {
    await fence(tx, context.network.id, session.epoch);
    const addresses = watches.map(({ address }) => address);
    await planWatches(tx, context.network.id, addresses, earliest.watchedFrom, backFill);
  });
  session.mayHaveBackFills = true;
}

/**
 * Reads one range of blocks again for the wallets that miss it, and stores what it finds together with the progress.
 * @returns whether more is left.
 */
export async function backFillOnce(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
): Promise<{ more: boolean }> {
  const { network, pool } = context;
  const fills = await readBackFills(pool, network.id, MAX_WALLETS_AT_ONCE);
  const [first] = fills;
  session.mayHaveBackFills = first !== undefined;
  if (first === undefined) return { more: false };
  const tip = chain.tip().number;
  const through = Math.max(first.next, lastBlock(fills, first.next, session.maxBackFillBlocks, tip));
  const wallets = fills.filter(({ next }) => next <= through).map(({ address }) => address);
  const transfers = first.next > tip ? [] : await readOrShrink(context, session, chain, first.next, through, wallets);
  if (transfers === null) return { more: true };
  const rows = await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    const found = await insertTransfers(tx, network.id, transfers);
    const confirmed = await confirmTransfers(tx, network, session);
    await publishTransfers(tx, context, [...found, ...confirmed], session.confirmingTip);
    await advanceBackFills(tx, network.id, wallets, { from: first.next, through, tip });
    faultPoint('backfill-written');
    return [...found, ...confirmed];
  });
  context.metrics.backFilledBlocks.inc({ network: network.id }, through - first.next + 1);
  recordTransfers(context, rows);
  return { more: true };
}

function lastBlock(fills: readonly BackFill[], from: number, maxBlocks: number, tip: number): number {
  return Math.min(from + maxBlocks - 1, tip, Math.max(...fills.map(({ to }) => to)));
}

/** @returns null when the node found the range too large: it is asked for less next time. */
async function readOrShrink(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  from: number,
  to: number,
  wallets: readonly string[],
): Promise<Transfer[] | null> {
  try {
    const transfers = await context.endpoints.ask((rpc) =>
      readTransfersTo(rpc, context.network, chain, from, to, wallets),
    );
    session.maxBackFillBlocks = Math.min(MAX_BACK_FILL_BLOCKS, Math.ceil(session.maxBackFillBlocks * 1.05));
    return transfers;
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== 'range' || to === from) throw error;
    session.maxBackFillBlocks = Math.ceil((to - from) / 2);
    return null;
  }
}

/**
 * The transfers to these wallets in the blocks `from` to `to`. That the node has the last block, on our chain, is proved in
 * the same batch: a node that lags or follows another fork would simply answer an empty list.
 */
async function readTransfersTo(
  rpc: RpcProvider,
  network: ChainNetwork,
  chain: LocalChain,
  from: number,
  to: number,
  wallets: readonly string[],
): Promise<Transfer[]> {
  const filter = { address: network.token, topics: transferTopics(wallets) };
  const [last, logs] = await Promise.all([readBlockAt(rpc, to), readLogsOfRange(rpc, from, to, filter)]);
  const byNumber = Map.groupBy(logs, (log) => log.blockNumber);
  const blocks = [last, ...(await readBlocksAt(rpc, [...byNumber.keys()]))];
  const entries = blocks.map((block, position): BlockLogs => {
    if (block === null) throw new RpcError('unknown_block', 'the node lacks a block that we have scanned');
    const ours = chain.hashAt(block.number);
    if (ours !== undefined && ours !== block.hash)
      throw new RpcError('invalid_answer', 'the node follows another fork');
    const found = position === 0 ? [] : (byNumber.get(block.number) ?? []);
    if (found.some((log) => log.blockHash !== block.hash))
      throw new RpcError('invalid_answer', 'a log of another fork');
    return { block, logs: found };
  });
  const wanted = new Set(wallets);
  return matchTransfers(rpc, network, entries, wanted);
}

/** Height of the first block at or after this moment (Unix seconds): from our own chain's end, or else by bisection. */
async function firstBlockSince({ endpoints }: ScanContext, chain: LocalChain, timestamp: number): Promise<number> {
  const before = chain.before(timestamp);
  if (before !== undefined) return before.number + 1;
  const lowest = chain.heights().at(-1) ?? 0;
  return endpoints.ask(async (rpc) => {
    let low = 0;
    let high = lowest;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const block = await readBlockAt(rpc, middle);
      if (block === null) throw new RpcError('unknown_block', 'the node lacks old blocks');
      if (block.timestamp < timestamp) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}
