import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { fence } from '../store/cursor.ts';
import {
  advanceRescan,
  beginRescan,
  delayRescan,
  failRescan,
  readNextRescan,
  type RescanRow,
} from '../store/rescans.ts';
import type { StoreReading } from './background.ts';
import { readAgain, type BlockSpan } from './read-again.ts';
import { granted, isTooMuch, refused, suggestedBlocks } from '../scan/allowance.ts';
import { storeReading } from './store-reading.ts';
import { firstBlockSince } from '../scan/block-time.ts';
import type { ScanContext, Session } from '../scan/session.ts';

/** How often it is looked for new ones. */
const LOOK_EVERY_MS = 1_000;
/** How long one rests after a node could not serve it. */
const RETRY_MS = 5_000;
/** A node that was cut off for a moment may have the blocks after all; then they are taken to be gone. */
const MAX_TRIES = 3;

/**
 * The next piece of what operators want read again: the oldest rescan goes on where it stands.
 * @returns null when nothing is due.
 */
export async function planRescan(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
): Promise<(() => Promise<StoreReading>) | null> {
  const { final } = session;
  if (final === null || performance.now() < session.rescanNotBefore) return null;
  const rescan = await readNextRescan(context.pool, context.network.id);
  if (rescan === null) {
    session.rescanNotBefore = performance.now() + LOOK_EVERY_MS;
    return null;
  }
  if (rescan.next_block === null || rescan.to_block === null)
    return () => orLater(context, session, rescan, () => begin(context, session, chain, rescan, final.number));
  const from = Number(rescan.next_block);
  const to = Math.min(Number(rescan.to_block), from + session.rescanRange.size - 1);
  // A reorg may have taken final blocks away: they are read again once they are final again.
  if (to > final.number) return null;
  return () => orLater(context, session, rescan, () => readSpan(context, session, chain, rescan, { from, to }));
}

/** Finds out which blocks are meant. Only final ones are read: what comes after them is the scan's, and may still change. */
async function begin(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  rescan: RescanRow,
  final: number,
): Promise<StoreReading> {
  const from =
    rescan.from_block === null
      ? await firstBlockSince(context, chain, Math.ceil((rescan.since?.getTime() ?? 0) / 1000))
      : Number(rescan.from_block);
  const to = Math.min(Number(rescan.to_block ?? final), final);
  return () =>
    change(context, session, async (tx) => {
      if (from <= to) return beginRescan(tx, rescan.rescan_id, { from, to });
      const asked = rescan.to_block === null ? '' : ` and ends at block ${String(rescan.to_block)}`;
      const error = `there is nothing to read: it begins at block ${String(from)}${asked}, and the last final block is ${String(final)}`;
      return failRescan(tx, rescan.rescan_id, error);
    });
}

async function readSpan(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  rescan: RescanRow,
  span: BlockSpan,
): Promise<StoreReading> {
  const { endpoints } = context;
  const reading = await readAgain(context, session, chain, span, async (read) => {
    try {
      const answer = await endpoints.askAnother(read, session.readers.of(span.from).endpoint);
      if (answer !== null) return answer;
    } catch (error) {
      // The scan's own endpoint may be the only one that keeps blocks so old.
      if (!(error instanceof RpcError) || error.kind === 'range') throw error;
    }
    return endpoints.ask(read);
  });
  return async () => {
    await storeReading(context, session, reading, false, (tx, found) =>
      advanceRescan(tx, rescan.rescan_id, { through: span.to, found }),
    );
    granted(session.rescanRange, span.to - span.from + 1);
    context.metrics.rescannedBlocks.inc({ network: context.network.id }, span.to - span.from + 1);
  };
}

/** What a node cannot serve is tried again: with a smaller range, or later, or not at all when the nodes do not have it. */
async function orLater(
  context: ScanContext,
  session: Session,
  rescan: RescanRow,
  read: () => Promise<StoreReading>,
): Promise<StoreReading> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return async () => {
      const { size } = session.rescanRange;
      if (isTooMuch(error) && size > 1) {
        refused(session.rescanRange, size, suggestedBlocks(error));
        return;
      }
      session.rescanNotBefore = performance.now() + RETRY_MS;
      const isMissing = error.kind === 'unknown_block' || error.kind === 'range';
      const isLast = isMissing && rescan.failed_tries + 1 >= MAX_TRIES;
      await change(context, session, (tx) =>
        isLast
          ? failRescan(tx, rescan.rescan_id, missingText(rescan, error))
          : delayRescan(tx, rescan.rescan_id, error.message, isMissing),
      );
      context.logger.warn(
        { network: context.network.id, rescan_id: rescan.rescan_id, error: error.message },
        isLast ? 'a rescan has failed' : 'a rescan has to wait',
      );
    };
  }
}

function missingText({ next_block: next }: RescanRow, { message }: RpcError): string {
  const place = next === null ? 'find the block of that time' : `read block ${String(next)} and those after it`;
  return `no endpoint could ${place}; nodes that keep no old blocks cannot be rescanned there (${message})`;
}

function change(
  { pool, network }: ScanContext,
  session: Session,
  run: (tx: Transaction) => Promise<void>,
): Promise<void> {
  return transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    await run(tx);
  });
}
