import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAttemptReport } from '../delivery/attempt-report.ts';
import { createAttempts } from '../delivery/attempts.ts';
import { createDatabaseClock } from '../delivery/database-clock.ts';
import { createHostBreakers } from '../delivery/host-breakers.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import { createInFlightLimits } from '../delivery/in-flight-limits.ts';
import type { Limits } from '../delivery/in-flight-limits.ts';
import type { BackPressure } from '../delivery/back-pressure.ts';
import type { Sender } from '../sending/sender.ts';
import { claimDeliveries, readDatabaseTime, releaseDeliveries } from '../store/claim.ts';
import { withTraces } from '../store/event-trace.ts';

export type DeliverLoop = {
  /** Looks for due deliveries at once. */
  wake(): void;
  /** Claims nothing more, waits for the attempts in flight and for their outcomes to be written. */
  close(): Promise<void>;
};

type DeliverOptions = {
  pool: Pool;
  sender: Sender;
  vault: KeyVault;
  retryDelaysSeconds: readonly number[];
  logger: Logger;
  metrics: Metrics;
};

/** Retries become due by themselves; this is how late one may be noticed. New events wake the loop. */
const POLL_MS = 500;
/** Claims for places that became free begin at least this far apart: several places cost little more than one. */
const PACE_MS = 5;
/** Three times the longest attempt: a lease lapses only when its process is gone. */
const LEASE_SECONDS = 45;
/** A process that was stopped on the way must not begin what another one will soon take over. */
const BEGIN_WITHIN_MS = 15_000;

/**
 * Sends what is due: claim and commit, POST without a transaction, settle in batches. A delivery keeps its place among the attempts
 * in flight until its outcome is written, so a slow database slows the claiming down.
 * @param options.stopping aborted as soon as the process stops: nothing is claimed from then on.
 */
export function startDeliverLoop(
  options: DeliverOptions & { bounds: Limits; pressure: BackPressure; stopping: AbortSignal },
): DeliverLoop {
  const { pool, bounds, pressure, stopping, logger, metrics } = options;
  const breakers = createHostBreakers({ recoveredAt: bounds.host });
  const closedHosts = metrics.gauge('webhook_closed_hosts', 'Hosts this process does not try, because none connects');
  metrics.beforeScrape(() => closedHosts.set(breakers.closedCount()));
  const lanes = createInFlightLimits(bounds, breakers);
  const report = createAttemptReport(options);
  const databaseClock = createDatabaseClock();
  const attempts = createAttempts({ ...options, report, breakers, databaseClock, lanes, onFree: () => pace.wake() });

  async function run(signal: AbortSignal): Promise<{ more: boolean }> {
    const isStopping = (): boolean => stopping.aborted || signal.aborted;
    if (pressure.pauseReason() === 'clock') pressure.databaseTime(await readDatabaseTime(pool));
    const free = lanes.claimBounds();
    if (isStopping() || free.room === 0 || pressure.pauseReason() !== null) return { more: false };
    const askedMs = performance.now();
    pace.began();
    const claim = await claimDeliveries(pool, { ...free, leaseSeconds: LEASE_SECONDS });
    const { more, databaseNow } = claim;
    report.claimed(claim.claimed);
    databaseClock.set(databaseNow);
    pressure.databaseTime(databaseNow);
    if (claim.claimed.length > 0) faultPoint('delivery-claimed');
    const claimed = await withTraces(pool, claim.claimed);
    const isTooLate = performance.now() - askedMs > BEGIN_WITHIN_MS;
    if (!isStopping() && !isTooLate && pressure.pauseReason() === null) await attempts.start(claimed);
    else await releaseDeliveries(pool, claimed, 0);
    return { more };
  }

  const loop = startLoop({ name: 'deliver', intervalMs: POLL_MS, logger, metrics, run });
  const pace = createPace(() => loop.wake());
  return {
    wake: () => loop.wake(),
    async close() {
      pace.close();
      await loop.close();
      await attempts.idle();
    },
  };
}

/** Keeps wake-ups for a moment when the last claim began only just before. New events are not kept waiting by it. */
function createPace(wake: () => void): { wake(): void; began(): void; close(): void } {
  let lastClaimMs = -Infinity;
  let timer: NodeJS.Timeout | null = null;
  return {
    wake() {
      const waitMs = lastClaimMs + PACE_MS - performance.now();
      if (waitMs <= 0) wake();
      else
        timer ??= setTimeout(() => {
          timer = null;
          wake();
        }, waitMs);
    },
    began: () => void (lastClaimMs = performance.now()),
    close: () => clearTimeout(timer ?? undefined),
  };
}
