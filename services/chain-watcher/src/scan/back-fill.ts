import { transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { matchTransfers } from '@quittance/chain-reader/chain/read-blocks.ts';
import { requireOurBlocks } from '@quittance/chain-reader/chain/range-logs.ts';
import { readRange } from '@quittance/chain-reader/chain/read-range.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { lowerAudited } from '../store/audits.ts';
import { fence } from '../store/cursor.ts';
import { confirmTransfers, insertTransfers } from '../store/transfers.ts';
import { advanceBackFills, planWatches, readBackFills, type BackFill, type NewWatch } from '../store/watches.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { granted, isTooMuch, refused, suggestedBlocks } from './allowance.ts';
import { BLOCK_TIME_MARGIN_SECONDS, firstBlockSince } from './block-time.ts';
import { publishTransfers, recordTransfers } from './publish.ts';
import type { ScanContext, Session } from './session.ts';

const MAX_WALLETS_AT_ONCE = 200;
/** How long watches rest that no node could date. */
const DATING_RETRY_MS = 1_000;

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
  const isRecent = (watch: NewWatch) => chain.before(firstMoment(watch)) !== undefined;
  const [recent, old] = [watches.filter(isRecent), watches.filter((watch) => !isRecent(watch))];
  await planTogether(context, session, chain, recent);
  if (performance.now() < session.datingNotBefore) return;
  try {
    await planTogether(context, session, chain, old);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // It may be that no node can date them, ever: then they wait, and nobody with them.
    session.datingNotBefore = performance.now() + DATING_RETRY_MS;
    context.logger.warn({ network: context.network.id, error: error.message }, 'old watches have to wait');
  }
}

/** The second, in Unix time, from which on blocks may hold a transfer that matters. */
const firstMoment = ({ watchedFrom }: NewWatch): number =>
  Math.floor(watchedFrom.getTime() / 1000) - BLOCK_TIME_MARGIN_SECONDS;

async function planTogether(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  watches: readonly NewWatch[],
): Promise<void> {
  const [earliest] = watches.toSorted((a, b) => a.watchedFrom.getTime() - b.watchedFrom.getTime());
  if (earliest === undefined) return;
  const from = firstMoment(earliest);
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
  const waiting = { newestFirst: session.backFillsNewestFirst, limit: MAX_WALLETS_AT_ONCE };
  const due = await readBackFills(pool, network.id, waiting);
  const [first] = due;
  session.mayHaveBackFills = first !== undefined;
  if (first === undefined) return { more: false };
  const fills = due.filter(({ next }) => next >= first.next);
  const tip = chain.tip().number;
  const through = Math.max(first.next, lastBlock(fills, first.next, session.backFillRange.size, tip));
  const wallets = fills.filter(({ next }) => next <= through).map(({ address }) => address);
  const read = first.next > tip ? NOTHING : await readOrShrink(context, session, chain, first.next, through, wallets);
  if (read === null) return { more: true };
  const { transfers, endpoint } = read;
  const rows = await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    const found = await insertTransfers(tx, network.id, transfers);
    const confirmed = await confirmTransfers(tx, network, session);
    await publishTransfers(tx, context, [...found, ...confirmed], session.confirmingTip);
    await advanceBackFills(tx, network.id, wallets, { from: first.next, through, tip });
    // The audit has gone past some of these blocks, maybe, and knew nothing of these wallets.
    if (read !== NOTHING) await lowerAudited(tx, network.id, first.next - 1);
    faultPoint('backfill-written');
    return [...found, ...confirmed];
  });
  if (read !== NOTHING) haveAuditedAgain(session, { from: first.next, through }, endpoint);
  context.metrics.backFilledBlocks.inc({ network: network.id }, through - first.next + 1);
  recordTransfers(context, rows);
  return { more: true };
}

function haveAuditedAgain(session: Session, blocks: { from: number; through: number }, endpoint: number): void {
  session.readers.replace(blocks, endpoint);
  if (session.audited !== null) session.audited = Math.min(session.audited, blocks.from - 1);
}

function lastBlock(fills: readonly BackFill[], from: number, maxBlocks: number, tip: number): number {
  return Math.min(from + maxBlocks - 1, tip, Math.max(...fills.map(({ to }) => to)));
}

/** What was found, and who was asked. */
type BackFillReading = { transfers: Transfer[]; endpoint: number };

/** Of blocks that a reorg has taken away. */
const NOTHING: BackFillReading = { transfers: [], endpoint: 0 };

/** @returns null when the node found the range too large: it is asked for less next time. */
async function readOrShrink(
  { endpoints, network }: ScanContext,
  { backFillRange }: Session,
  chain: LocalChain,
  from: number,
  to: number,
  wallets: readonly string[],
): Promise<BackFillReading | null> {
  const asked = to - from + 1;
  try {
    const reading = await endpoints.ask(async (rpc) => ({
      transfers: await readTransfersTo(rpc, network, chain, from, to, wallets),
      endpoint: rpc.endpoint,
    }));
    granted(backFillRange, asked);
    return reading;
  } catch (error) {
    if (!isTooMuch(error) || asked === 1) throw error;
    refused(backFillRange, asked, suggestedBlocks(error));
    return null;
  }
}

/**
 * The transfers to these wallets in the blocks `from` to `to`, as they are in our own chain. The last blocks of a range may be
 * above the final one, so that a node on another fork would tell of other blocks than those that we have scanned.
 */
async function readTransfersTo(
  rpc: RpcProvider,
  network: ChainNetwork,
  chain: LocalChain,
  from: number,
  to: number,
  wallets: readonly string[],
): Promise<Transfer[]> {
  const range = await readRange(rpc, network, from, to, wallets);
  requireOurBlocks(range, (number) => chain.hashAt(number));
  return matchTransfers(rpc, network, range.entries, new Set(wallets));
}
