import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAttemptReport } from '../delivery/attempt-report.ts';
import { createAttempts } from '../delivery/attempts.ts';
import type { BackPressure } from '../delivery/back-pressure.ts';
import { createHostCircuits, type HostCircuits } from '../delivery/host-circuits.ts';
import { createInFlightLimits, type InFlightLimits } from '../delivery/in-flight-limits.ts';
import type { Limits } from '../delivery/places.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import { ATTEMPT_TIMEOUT_MS, type Sender } from '../sending/sender.ts';
import { claimDeliveries, readDatabaseTime, releaseDeliveries } from '../store/claim.ts';
import { markLanesSlow } from '../store/lane.ts';
import { paces } from '../state.ts';

type DeliverOptions = {
  pool: Pool;
  sender: Sender;
  vault: KeyVault;
  limits: Limits;
  pressure: BackPressure;
  retryDelaysSeconds: readonly number[];
  /** Aborted as soon as the process stops: nothing is claimed from then on. */
  stopping: AbortSignal;
  logger: Logger;
  metrics: Metrics;
};

/** Retries become due by themselves; this is how late one may be claimed. New events wake the loop. */
const POLL_MS = 500;
/** Claims start at least this far apart: several free places cost little more than one. */
const PACE_MS = 5;
/**
 * Three times the longest attempt, so that a lease lapses only when its process is gone. A process that was frozen after its claim
 * starts nothing once a third of it is over, because another one will soon take over.
 */
const LEASE_SECONDS = (3 * ATTEMPT_TIMEOUT_MS) / 1000;

/**
 * Sends what is due: claim and commit, POST outside a transaction, settle in batches. A delivery counts as in flight until its outcome
 * is stored, so a slow database slows the claims down. Closing stops the claims and waits for the attempts in flight.
 */
export function startDeliverLoop(options: DeliverOptions): Loop {
  const { pool, limits, pressure, stopping, logger, metrics } = options;
  const hostCircuits = createHostCircuits({ recoveredAt: limits.host });
  const inFlight = createInFlightLimits(limits, hostCircuits, pressure.runMs);
  showLimits(metrics, { hostCircuits, inFlight });
  const report = createAttemptReport(options);
  // Between claims the database's time runs on the monotonic clock, so a step of this machine's clock makes no attempt look late.
  let databaseOffsetMs = Date.now() - performance.now();
  const databaseNow = () => new Date(performance.now() + databaseOffsetMs);
  const onFree = () => loop.wake();
  const attempts = createAttempts({ ...options, report, hostCircuits, databaseNow, inFlight, onFree });
  let claimedMs = -Infinity;
  let unprovenFromMs = -Infinity;

  async function run(signal: AbortSignal): Promise<{ more: boolean }> {
    const isStopping = (): boolean => stopping.aborted || signal.aborted;
    if (pressure.pauseReason() === 'clock') pressure.databaseTime(await readDatabaseTime(pool));
    const waitMs = claimedMs + PACE_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    // What was late here may be quick.
    if (isStopping() || pressure.pauseReason() !== null) return { more: false };
    const slow = inFlight.takeTurnedSlow();
    if (slow.length > 0) await markLanesSlow(pool, slow);
    const free = inFlight.claimBounds();
    if (free.room === 0) return { more: false };
    claimedMs = performance.now();
    const mayClaim = free.paces.filter(({ pace }) => pace === 'quick' || claimedMs >= unprovenFromMs);
    const bounds = { ...free, paces: mayClaim, leaseSeconds: LEASE_SECONDS };
    const { claimed, more, databaseNow: now } = await claimDeliveries(pool, bounds);
    putOffUnproven(claimed.filter(({ pace }) => pace !== 'quick').length);
    report.claimed(claimed);
    databaseOffsetMs = now.getTime() - performance.now();
    pressure.databaseTime(now);
    if (claimed.length > 0) faultPoint('delivery-claimed');
    const isTooLate = performance.now() - claimedMs > ATTEMPT_TIMEOUT_MS;
    if (!isStopping() && !isTooLate && pressure.pauseReason() === null) await attempts.start(claimed);
    else await releaseDeliveries(pool, claimed, 0);
    return { more };
  }

  function putOffUnproven(claimed: number): void {
    if (claimed === 0) return;
    const waitMs = claimed * limits.unprovenEveryMs;
    unprovenFromMs = performance.now() + waitMs;
    setTimeout(() => loop.wake(), waitMs).unref();
  }

  const loop = startLoop({ name: 'deliver', intervalMs: POLL_MS, logger, metrics, run });
  return {
    wake: () => loop.wake(),
    async close() {
      await loop.close();
      await attempts.idle();
    },
  };
}

function showLimits(
  metrics: Metrics,
  { hostCircuits, inFlight }: { hostCircuits: HostCircuits; inFlight: InFlightLimits },
): void {
  const openHosts = metrics.gauge(
    'webhook_open_host_circuits',
    'Hosts that get no attempts from this process, or one probe, because none connects',
  );
  metrics.beforeScrape(() => openHosts.set(hostCircuits.openCount()));
  const places = metrics.gauge(
    'webhook_attempts_in_flight',
    'Attempts in flight in this process that count as quick, as slow, or as the first of a new merchant',
    ['pace'],
  );
  metrics.beforeScrape(() => {
    for (const pace of paces) places.set({ pace }, inFlight.counts()[pace]);
  });
}
