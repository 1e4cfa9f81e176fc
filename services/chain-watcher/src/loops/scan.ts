import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { LocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { beginAtZero } from '../metrics.ts';
import { advance, begin } from '../scan/advance.ts';
import { settleLargeTransfers } from '../scan/agreement.ts';
import { readOnceMore } from '../audit/read-once-more.ts';
import { backFillOnce, planNewWatches } from '../scan/back-fill.ts';
import { dropPermission } from '../scan/reorg.ts';
import { openSession, type ScanContext, type Session } from '../scan/session.ts';
import { Fenced, fence, readCursor } from '../store/cursor.ts';
import { endWatches, readNewWatches, type NewWatch } from '../store/watches.ts';

/** How often a replica that does not lead asks for the lead. */
const LEAD_RETRY_MS = 1_000;
/** How long back-filling rests after a node could not serve it; scanning new blocks goes on meanwhile. */
const BACK_FILL_RETRY_MS = 1_000;
const END_WATCHES_EVERY_MS = 10_000;
const HALT_CHECK_MS = 1_000;
const MAX_NEW_WATCHES = 500;
const MAX_ENDED_WATCHES = 1_000;

/** `isLeading`: whether this replica scans the network at the moment. */
export type ScanLoop = Loop & { isLeading(): boolean };

/**
 * Scans one network for ever while this replica leads it, and stands by otherwise. Networks are isolated from each other:
 * each has its own loop, endpoints, leadership and cursor.
 */
export function startScanLoop(context: ScanContext, metrics: Metrics): ScanLoop {
  const { network, logger } = context;
  let session: Session | null = null;
  let sleepUntil = 0;
  beginAtZero(context.metrics, network.id);

  async function endSession(): Promise<void> {
    const ended = session;
    session = null;
    await ended?.leadership.release();
  }

  async function run(): Promise<{ more: boolean }> {
    if (performance.now() < sleepUntil) return { more: false };
    if (session !== null && !session.leadership.isHeld()) {
      logger.warn({ network: network.id }, 'the lead was lost with its database connection');
      await endSession();
    }
    session ??= await openSession(context, () => loop.wake());
    if (session === null) sleepUntil = performance.now() + LEAD_RETRY_MS;
    if (session === null) return { more: false };
    try {
      if (session.isHalted) {
        sleepUntil = performance.now() + HALT_CHECK_MS;
        if (!(await isStillHalted(context))) await endSession();
        return { more: false };
      }
      return await scanOnce(context, session);
    } catch (error) {
      // A node's failure leaves what we know untouched. After anything else our copy may differ from the database.
      if (!(error instanceof RpcError)) await endSession();
      if (!(error instanceof Fenced)) throw error;
      logger.warn({ network: network.id }, error.message);
      return { more: false };
    }
  }

  const loop = startLoop({
    name: `scan ${network.id}`,
    intervalMs: network.poll_interval_ms,
    logger,
    metrics,
    run: async () => {
      try {
        return await run();
      } finally {
        report(context, session);
      }
    },
  });
  return {
    wake: () => loop.wake(),
    isLeading: () => session?.leadership.isHeld() ?? false,
    async close() {
      // The node may be slow or gone; what is read from it now would not be stored anyway.
      context.endpoints.close();
      await loop.close();
      await endSession();
    },
  };
}

/**
 * One poll of the chain, then what is due beside it. New wallets join the watch set first, so that no block passes them, and are
 * back-filled after it, because part of what it brings may have been read ahead without them.
 */
async function scanOnce(context: ScanContext, session: Session): Promise<{ more: boolean }> {
  const added = await takeInNewWatches(context, session);
  const chain = (session.chain ??= await begin(context, session));
  const ahead = await follow(context, session, chain);
  if (session.isHalted) return { more: false };
  await settleLargeTransfers(context, session);
  const behind = await backFill(context, session, chain, added);
  await readOnceMore(context, session, chain, !ahead.more);
  await endIdleWatches(context, session);
  return { more: ahead.more || behind.more };
}

async function takeInNewWatches({ pool, network }: ScanContext, session: Session): Promise<NewWatch[]> {
  const added = await readNewWatches(pool, network.id, MAX_NEW_WATCHES);
  for (const { address } of added) session.watches.add(address);
  return added;
}

async function follow(context: ScanContext, session: Session, chain: LocalChain): Promise<{ more: boolean }> {
  const before = chain.tip().number;
  const ahead = await advance(context, session, chain);
  const tip = chain.tip().number;
  session.readers.note(tip, session.lastEndpoint);
  if (session.mayAcceptFork && tip > before) await dropPermission(context, session);
  return ahead;
}

async function backFill(
  context: ScanContext,
  session: Session,
  chain: LocalChain,
  added: readonly NewWatch[],
): Promise<{ more: boolean }> {
  if (performance.now() < session.backFillNotBefore) return { more: false };
  try {
    await planNewWatches(context, session, chain, added);
    return session.mayHaveBackFills ? await backFillOnce(context, session, chain) : { more: false };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    session.backFillNotBefore = performance.now() + BACK_FILL_RETRY_MS;
    session.backFillsNewestFirst = !session.backFillsNewestFirst;
    context.logger.warn({ network: context.network.id, error: error.message }, 'back-filling has to wait');
    return { more: false };
  }
}

async function endIdleWatches({ pool, network }: ScanContext, session: Session): Promise<void> {
  if (session.largeFinal === null || performance.now() < session.endWatchesNotBefore) return;
  session.endWatchesNotBefore = performance.now() + END_WATCHES_EVERY_MS;
  const final = new Date(session.largeFinal.timestamp * 1000);
  const ended = await transaction(pool, async (tx) => {
    await fence(tx, network.id, session.epoch);
    return endWatches(tx, network.id, final, MAX_ENDED_WATCHES);
  });
  for (const address of ended) session.watches.delete(address);
}

async function isStillHalted({ pool, network }: ScanContext): Promise<boolean> {
  const cursor = await readCursor(pool, network.id);
  return cursor !== null && cursor.haltedAt !== null;
}

function report({ network, metrics }: ScanContext, session: Session | null): void {
  const label = { network: network.id };
  metrics.leader.set(label, session === null ? 0 : 1);
  metrics.halted.set(label, session?.isHalted ? 1 : 0);
  metrics.watchedWallets.set(label, session?.watches.size() ?? 0);
  if (!session?.chain) {
    // Another replica reports these; old values of ours beside its own would look like a lag, or like transfers that wait.
    metrics.lagBlocks.remove(label);
    metrics.lagSeconds.remove(label);
    metrics.auditLagBlocks.remove(label);
    metrics.awaitingAgreement.remove(label);
    return;
  }
  const tip = session.chain.tip();
  metrics.lagBlocks.set(label, Math.max(0, session.head - tip.number));
  metrics.lagSeconds.set(label, Math.max(0, Date.now() / 1000 - tip.timestamp));
  const final = session.final?.number ?? 0;
  metrics.auditLagBlocks.set(label, Math.max(0, final - (session.audited ?? final)));
}
