import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAttemptReport } from '../delivery/attempt-report.ts';
import { createAttempts } from '../delivery/attempts.ts';
import { createDatabaseClock } from '../delivery/database-clock.ts';
import { createHostCircuits } from '../delivery/host-circuits.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import { createInFlightLimits } from '../delivery/in-flight-limits.ts';
import type { Limits } from '../delivery/in-flight-limits.ts';
import type { BackPressure } from '../delivery/back-pressure.ts';
import { ATTEMPT_TIMEOUT_MS } from '../sending/sender.ts';
import type { Sender } from '../sending/sender.ts';
import { claimDeliveries, readDatabaseTime, releaseDeliveries } from '../store/claim.ts';
import { withTraces } from '../store/event-trace.ts';

export type DeliverLoop = {
  /** Claims due deliveries at once. */
  wake(): void;
  /** Stops claiming, waits for the attempts in flight and for their outcomes to be stored. */
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

/** Retries become due by themselves; this is how late one may be claimed. New events wake the loop. */
const POLL_MS = 500;
/** Claims for places that became free start at least this far apart: several places cost little more than one. */
const PACE_MS = 5;
/**
 * Three times the longest attempt, so that a lease lapses only when its process is gone. A process that was frozen after its claim
 * starts nothing once a third of it is over, because another one will soon take over.
 */
const LEASE_SECONDS = (3 * ATTEMPT_TIMEOUT_MS) / 1000;

/**
 * Sends what is due: claim and commit, POST outside a transaction, settle in batches. A delivery counts as in flight until its outcome
 * is stored, so a slow database slows the claims down.
 * @param options.stopping aborted as soon as the process stops: nothing is claimed from then on.
 */
export function startDeliverLoop(
  options: DeliverOptions & { limits: Limits; pressure: BackPressure; stopping: AbortSignal },
): DeliverLoop {
  const { pool, limits, pressure, stopping, logger, metrics } = options;
  const hostCircuits = createHostCircuits({ recoveredAt: limits.host });
  const openHosts = metrics.gauge(
    'webhook_open_host_circuits',
    'Hosts that get no attempts from this process, or one probe, because none connects',
  );
  metrics.beforeScrape(() => openHosts.set(hostCircuits.openCount()));
  const inFlight = createInFlightLimits(limits, hostCircuits);
  const report = createAttemptReport(options);
  const databaseClock = createDatabaseClock();
  const attempts = createAttempts({
    ...options,
    report,
    hostCircuits,
    databaseClock,
    inFlight,
    onFree: () => pace.wake(),
  });

  async function run(signal: AbortSignal): Promise<{ more: boolean }> {
    const isStopping = (): boolean => stopping.aborted || signal.aborted;
    if (pressure.pauseReason() === 'clock') pressure.databaseTime(await readDatabaseTime(pool));
    const free = inFlight.claimBounds();
    if (isStopping() || free.room === 0 || pressure.pauseReason() !== null) return { more: false };
    const claimStartedMs = performance.now();
    pace.claimed();
    const claim = await claimDeliveries(pool, { ...free, leaseSeconds: LEASE_SECONDS });
    const { more, databaseNow } = claim;
    report.claimed(claim.claimed);
    databaseClock.set(databaseNow);
    pressure.databaseTime(databaseNow);
    if (claim.claimed.length > 0) faultPoint('delivery-claimed');
    const claimed = await withTraces(pool, claim.claimed);
    const isTooLate = performance.now() - claimStartedMs > ATTEMPT_TIMEOUT_MS;
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

/** Delays wake-ups that come within PACE_MS after a claim started. New events wake the loop directly and are not delayed. */
function createPace(wake: () => void): { wake(): void; claimed(): void; close(): void } {
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
    claimed: () => void (lastClaimMs = performance.now()),
    close: () => clearTimeout(timer ?? undefined),
  };
}
