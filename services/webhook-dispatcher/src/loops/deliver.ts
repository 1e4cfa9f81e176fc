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
import { unprovenRestMs } from '../delivery/unproven-rest.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import { ATTEMPT_TIMEOUT_MS, type Sender } from '../sending/sender.ts';
import { claimDeliveries, readDatabaseTime, releaseDeliveries } from '../store/claim.ts';
import { markLanesSlow } from '../store/lane.ts';
import { paces, type Pace } from '../state.ts';

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

/** Retries become due by themselves; this is how late one may be claimed. New events wake the loops. */
const POLL_MS = 500;
/** Claims of one loop start at least this far apart: several free places cost little more than one. */
const PACE_MS = 5;
/**
 * Three times the longest attempt, so that a lease lapses only when its process is gone. A process that was frozen after its claim
 * starts nothing once a third of it is over, because another one will soon take over.
 */
const LEASE_SECONDS = (3 * ATTEMPT_TIMEOUT_MS) / 1000;

const quick: readonly Pace[] = ['quick'];
const unproven: readonly Pace[] = ['new', 'slow'];

/**
 * Sends what is due: claim and commit, POST outside a transaction, settle in batches. A delivery counts as in flight until its outcome
 * is stored, so a slow database slows the claims down. Closing stops the claims and waits for the attempts in flight.
 *
 * Lanes that are new or slow have a loop of their own, so that an event of a quick lane never waits while one of theirs is claimed.
 */
export function startDeliverLoop(options: DeliverOptions): Loop {
  const { pool, limits, pressure, logger, metrics } = options;
  const hostCircuits = createHostCircuits({ recoveredAt: limits.host });
  const inFlight = createInFlightLimits(limits, hostCircuits, pressure.runMs);
  showLimits(metrics, { hostCircuits, inFlight });
  const onFree = (freed: ReadonlySet<Pace>): void => {
    if (freed.has('quick')) quickLoop.wake();
    if (unproven.some((pace) => freed.has(pace))) unprovenLoop.wake();
  };
  const { claim, idle } = createClaims({ ...options, hostCircuits, inFlight, onFree });

  async function runQuick(signal: AbortSignal): Promise<{ more: boolean }> {
    if (pressure.pauseReason() === 'clock') pressure.databaseTime(await readDatabaseTime(pool));
    return claim(quick, signal);
  }

  async function runUnproven(signal: AbortSignal): Promise<{ more: boolean; restMs: number }> {
    await markSlow(pool, inFlight);
    const startedMs = performance.now();
    const { claimed, more } = await claim(unproven, signal);
    const tookMs = performance.now() - startedMs;
    return { more, restMs: unprovenRestMs(limits.unprovenEveryMs, { claimed, more, tookMs }) };
  }

  const common = { intervalMs: POLL_MS, logger, metrics };
  const quickLoop = startLoop({ ...common, name: 'deliver', run: apart(runQuick) });
  const unprovenLoop = startLoop({ ...common, name: 'deliver-unproven', run: apart(runUnproven) });
  return {
    wake() {
      quickLoop.wake();
      unprovenLoop.wake();
    },
    async close() {
      await Promise.all([quickLoop.close(), unprovenLoop.close()]);
      await idle();
    },
  };
}

type Run = (signal: AbortSignal) => Promise<{ more: boolean; restMs?: number }>;

/** Has a run begin no sooner than `restMs` after the one before began, however often its loop is woken. */
function apart(run: Run): Run {
  let fromMs = -Infinity;
  return async (signal) => {
    const waitMs = fromMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
    const startedMs = performance.now();
    const result = await run(signal);
    fromMs = startedMs + (result.restMs ?? PACE_MS);
    return result;
  };
}

/** Has other processes, and the claims to come, know of lanes whose attempts here take long. */
async function markSlow(pool: Pool, inFlight: InFlightLimits): Promise<void> {
  const slow = inFlight.turnedSlow();
  if (slow.length === 0) return;
  await markLanesSlow(pool, slow);
  inFlight.markedSlow(slow);
}

/** Claims deliveries and starts their attempts. */
function createClaims(
  options: DeliverOptions & {
    hostCircuits: HostCircuits;
    inFlight: InFlightLimits;
    onFree: (freed: ReadonlySet<Pace>) => void;
  },
) {
  const { pool, pressure, stopping, inFlight } = options;
  const report = createAttemptReport(options);
  // Between claims the database's time runs on the monotonic clock, so a step of this machine's clock makes no attempt look late.
  let databaseOffsetMs = Date.now() - performance.now();
  const databaseNow = () => new Date(performance.now() + databaseOffsetMs);
  const attempts = createAttempts({ ...options, report, databaseNow });

  async function claim(paces: readonly Pace[], signal: AbortSignal): Promise<{ claimed: number; more: boolean }> {
    const mayNot = (): boolean => stopping.aborted || signal.aborted || pressure.pauseReason() !== null;
    const bounds = inFlight.claimBounds(paces);
    if (mayNot() || bounds.paces.length === 0) return { claimed: 0, more: false };
    const claimedMs = performance.now();
    const { claimed, more, databaseNow: now } = await claimDeliveries(pool, { ...bounds, leaseSeconds: LEASE_SECONDS });
    report.claimed(claimed);
    databaseOffsetMs = now.getTime() - performance.now();
    pressure.databaseTime(now);
    if (claimed.length > 0) faultPoint('delivery-claimed');
    const isTooLate = performance.now() - claimedMs > ATTEMPT_TIMEOUT_MS;
    if (isTooLate || mayNot()) await releaseDeliveries(pool, claimed, 0);
    else await attempts.start(claimed);
    return { claimed: claimed.length, more };
  }

  return { claim, idle: attempts.idle };
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
