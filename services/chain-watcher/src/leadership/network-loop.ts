import { createWatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { loadCanonicalBlocks } from '../blocks/block.sql.ts';
import { createCrossCheckJob } from '../confirm/cross-check.ts';
import { createFollowJob, startAtFinalBlock } from '../follow/follow.ts';
import { createJumpJob } from '../jump/jump.ts';
import { startAtZero, type ChainMetrics } from '../metrics.ts';
import { mayAcceptFork } from '../operators/resumption.sql.ts';
import { createAuditJob } from '../reread/audit.ts';
import { takeTurns } from '../reread/background.ts';
import { createRescanJob } from '../reread/rescan.ts';
import { createBackFillJob } from '../watches/back-fill.ts';
import { eachWatchedAddress } from '../watches/watch.sql.ts';
import { createEndWatchesJob } from '../watches/watches.ts';
import { readCursor, takeOver, Fenced } from './cursor.sql.ts';
import { tryToLead, type Leadership } from './election.sql.ts';
import { positionAt, type NetworkContext, type Term, type WritablePosition } from './term.ts';

/** How often a replica that does not lead tries to. */
const LEAD_RETRY_MS = 1_000;
const HALT_CHECK_MS = 1_000;

export type LoopContext = NetworkContext & {
  /** Connections that are used only to hold the lead. */
  leaderPool: Pool;
  /** How long a silent leader stays leader. */
  leaseMs: number;
  /** This process's clock minus the database's; null until the two have been compared. */
  clockDifferenceMs: () => number | null;
};

export type NetworkLoop = Pick<Loop, 'close'> & {
  /** An endpoint has announced a block. @param hash the block's hash, if the announcement names it. */
  announced(hash: string | null): void;
  /** Whether this replica scans the network now. */
  isLeading(): boolean;
  /** See createPoller(); null while this replica does not scan the network. */
  clockDifference(): number | null;
  /** Why the last scan failed; null when it succeeded, and while this replica does not scan the network. */
  scanError(): string | null;
};

/**
 * One term as leader of a network. It holds a copy of the database's state, which changes only after a commit. After an error that leaves
 * it unclear whether a commit succeeded, the term ends, and the next one reads the database again.
 */
type OpenTerm = {
  leadership: Leadership;
  term: Term;
  isHalted: boolean;
  /** Null until the network's first start has chosen a block. */
  position: WritablePosition | null;
  jobs: Jobs | null;
  /** Why the last scan failed. */
  scanError: string | null;
  stored: { mayAcceptFork: boolean; audited: number | null };
};

/**
 * Scans one network while this replica leads it; otherwise it is on standby. Each network has its own loop, endpoints, leadership and
 * cursor, so a failure of one does not affect the others.
 */
export function startNetworkLoop(context: LoopContext, metrics: Metrics): NetworkLoop {
  const { network, logger } = context;
  let open: OpenTerm | null = null;
  let sleepUntil = 0;
  startAtZero(context.metrics, network.id);

  async function endTerm(): Promise<void> {
    const ended = open;
    open = null;
    await ended?.leadership.release();
  }

  async function run(): Promise<{ more: boolean; pauseMs?: number }> {
    if (performance.now() < sleepUntil) return { more: false };
    if (open !== null && !open.leadership.isHeld()) {
      logger.warn({ network: network.id }, 'the lead was lost with its database connection');
      await endTerm();
    }
    open ??= await openTerm(context);
    if (open === null) {
      sleepUntil = performance.now() + LEAD_RETRY_MS;
      return { more: false, pauseMs: LEAD_RETRY_MS };
    }
    try {
      if (open.isHalted) {
        sleepUntil = performance.now() + HALT_CHECK_MS;
        if ((await readCursor(context.pool, network.id))?.state !== 'halted') await endTerm();
        return { more: false };
      }
      const { more, pauseMs, hasJumped } = await runJobs(open, () => loop.wake());
      if (hasJumped) await endTerm();
      return { more, pauseMs };
    } catch (error) {
      open.scanError = error instanceof Error ? error.message : String(error);
      // A node's failure does not change our state. After any other error our copy may differ from the database.
      if (!(error instanceof RpcError)) await endTerm();
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
    run: () => run().finally(() => report(context, open)),
  });
  return {
    announced(hash) {
      open?.jobs?.announced(hash);
      loop.wake();
    },
    isLeading: () => open?.leadership.isHeld() ?? false,
    clockDifference: () => open?.jobs?.clockDifference() ?? null,
    scanError: () => open?.scanError ?? null,
    async close() {
      // A node may be slow or gone. Its answers would not be stored anyway.
      context.endpoints.close();
      await loop.close();
      await endTerm();
    },
  };
}

/** @returns null while another replica leads this network. */
export async function openTerm({ leaderPool, leaseMs, ...context }: LoopContext): Promise<OpenTerm | null> {
  const { pool, network, logger } = context;
  const leadership = await tryToLead(leaderPool, network.id, leaseMs);
  if (leadership === null) return null;
  try {
    // Everything else is read after taking over, so that no commit of the previous leader is missed.
    const cursor = await takeOver(pool, network.id);
    const isHalted = cursor.state === 'halted';
    const watches = createWatchSet();
    if (!isHalted) await eachWatchedAddress(pool, network.id, (address) => watches.add(address));
    const position = positionAt(cursor, await loadCanonicalBlocks(pool, network.id));
    logger.info(
      {
        network: network.id,
        epoch: String(cursor.epoch),
        block_number: cursor.tip?.number ?? null,
        wallets: watches.size(),
      },
      'leading the scan',
    );
    const term = { ...context, epoch: cursor.epoch, isLeading: () => leadership.isHeld(), watches };
    const stored = { mayAcceptFork: await mayAcceptFork(pool, network.id), audited: cursor.audited };
    return { leadership, term, isHalted, position, jobs: null, scanError: null, stored };
  } catch (error) {
    await leadership.release();
    throw error;
  }
}

/**
 * Checks for new wallets and for other work at least every `poll_interval_ms`, and polls the chain when that is due.
 * @returns `hasJumped` when the scan continues at another block. The term's state is out of date then.
 */
async function runJobs(
  open: OpenTerm,
  wake: () => void,
): Promise<{ more: boolean; pauseMs: number; hasJumped: boolean }> {
  open.position ??= await startAtFinalBlock(open.term);
  open.jobs ??= createJobs(open.term, open.position, open.stored, wake);
  if (await open.jobs.jump()) return { more: true, pauseMs: 0, hasJumped: true };
  const { more, isHalted } = await open.jobs.runInTurn();
  open.isHalted = isHalted;
  open.scanError = null;
  const pauseMs = Math.min(open.term.network.poll_interval_ms, open.jobs.dueInMs());
  return { more, pauseMs, hasJumped: false };
}

type Jobs = ReturnType<typeof createJobs>;

/** Each job owns its state. All share the position, which only the follow job moves, and tell the audit which blocks they have read. */
function createJobs(term: Term, position: WritablePosition, stored: OpenTerm['stored'], wake: () => void) {
  const audit = createAuditJob(term, position, stored.audited);
  const rescan = createRescanJob(term, position, audit.endpointOf);
  const secondReadings = takeTurns(audit, rescan, wake);
  const backFill = createBackFillJob(term, position, { onReadAgain: audit.onReadAgain });
  const crossCheck = createCrossCheckJob(term, position);
  const endWatches = createEndWatchesJob(term, position);
  const jump = createJumpJob(term, position);
  const follow = createFollowJob(term, position, {
    mayAcceptFork: stored.mayAcceptFork,
    onRead: audit.onRead,
    onRewind(number) {
      secondReadings.abandon();
      audit.onRewind(number);
    },
  });
  let isBehind = false;
  /** Monotonic milliseconds. */
  let othersNotBefore = Number.NEGATIVE_INFINITY;
  return {
    audited: audit.audited,
    clockDifference: follow.clockDifference,
    jump: jump.run,
    dueInMs: follow.dueInMs,
    announced: follow.announced,
    /** Polls the chain if that is due, then runs the other jobs. While the scan catches up, those run once an interval. */
    async runInTurn(): Promise<{ more: boolean; isHalted: boolean }> {
      const isOnlyFollowing = isBehind && performance.now() < othersNotBefore;
      if (!isOnlyFollowing) {
        othersNotBefore = performance.now() + term.network.poll_interval_ms;
        await backFill.watchNewWallets();
        await follow.askWhetherAwake();
      }
      const followed = await follow.run();
      isBehind = followed === 'more';
      if (followed === 'halted') return { more: false, isHalted: true };
      if (isOnlyFollowing) return { more: true, isHalted: false };
      const crossChecked = await crossCheck.run();
      const backFilled = await backFill.run();
      await secondReadings.run(followed === 'at_head');
      await endWatches.run();
      return { more: followed === 'more' || crossChecked.more || backFilled.more, isHalted: false };
    },
  };
}

function report({ network, metrics, clockDifferenceMs }: LoopContext, open: OpenTerm | null): void {
  const label = { network: network.id };
  metrics.leader.set(label, open === null ? 0 : 1);
  metrics.halted.set(label, open?.isHalted ? 1 : 0);
  metrics.watchedWallets.set(label, open?.term.watches.size() ?? 0);
  reportClock(metrics, network.id, { process: open?.jobs?.clockDifference() ?? null, ours: clockDifferenceMs() });
  if (!open?.position) {
    // Another replica reports these. Our stale values would look like a lag, or like waiting transfers.
    const { cursor, lagBlocks, lagSeconds, auditLagBlocks, awaitingCrossCheck } = metrics;
    for (const gauge of [cursor, lagBlocks, lagSeconds, auditLagBlocks, awaitingCrossCheck]) gauge.remove(label);
    return;
  }
  const { chain, heights } = open.position;
  const { head, final } = heights();
  const tip = chain.tip();
  metrics.cursor.set(label, tip.number);
  metrics.lagBlocks.set(label, Math.max(0, head - tip.number));
  metrics.lagSeconds.set(label, Math.max(0, Date.now() / 1000 - tip.timestamp));
  const finalNumber = final?.number ?? 0;
  const audited = (open.jobs ? open.jobs.audited() : open.stored.audited) ?? finalNumber;
  metrics.auditLagBlocks.set(label, Math.max(0, finalNumber - audited));
}

/** @param difference.process see createPoller(). @param difference.ours this process's clock minus the database's. */
function reportClock(
  { clockDifference }: ChainMetrics,
  network: string,
  { process, ours }: { process: number | null; ours: number | null },
): void {
  const database = process === null || ours === null ? null : process + ours / 1000;
  for (const [clock, seconds] of Object.entries({ process, database })) {
    // On a replica that is on standby, the last value would stay.
    if (seconds === null) clockDifference.remove({ network, clock });
    else clockDifference.set({ network, clock }, seconds);
  }
}
