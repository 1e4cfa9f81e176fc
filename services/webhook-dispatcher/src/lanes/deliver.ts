import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAttemptReport } from './attempt-report.ts';
import { createAttempts, type AttemptSources } from './attempts.ts';
import type { BackPressure } from './back-pressure.ts';
import { createHostCircuits, type HostCircuits } from './host-circuits.ts';
import { createInFlightLimits, type InFlightLimits, type Limits } from './in-flight-limits.ts';
import { ATTEMPT_TIMEOUT_MS } from '../sending/sender.ts';
import { claimDeliveries, readDatabaseTime, releaseDeliveries } from './claim.sql.ts';
import { markLanesSlow } from './lane.sql.ts';
import { paces, type Pace } from '../state.ts';

type DeliverOptions = AttemptSources & {
  limits: Limits;
  pressure: BackPressure;
  /** Aborted when the process stops: then nothing more is claimed. */
  stopping: AbortSignal;
  metrics: Metrics;
};

/** How late a due retry may be claimed. New events wake the loops. */
const POLL_MS = 500;
/** The shortest time between claims of one loop: claiming for several free places costs little more than for one. */
const PACE_MS = 5;
/**
 * Three times the longest attempt, so that a lease only expires if its process is gone. A process that was frozen after a claim starts no
 * attempt after a third of this time, because another process may soon take over.
 */
const LEASE_SECONDS = (3 * ATTEMPT_TIMEOUT_MS) / 1000;

const quick: readonly Pace[] = ['quick'];
const unproven: readonly Pace[] = ['new', 'slow'];

/**
 * Sends due deliveries: claims and commits, POSTs outside a transaction, settles in batches. A delivery is in flight until its outcome is
 * stored, so a slow database slows the claims down. Closing stops the claims and waits for the attempts in flight.
 *
 * New and slow lanes have a separate loop, so that a quick lane never waits for their claims.
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

  async function runQuick(signal: AbortSignal): Promise<{ more: boolean; paceMs: number }> {
    if (pressure.pauseReason() === 'clock') pressure.databaseTime(await readDatabaseTime(pool));
    const { claimed, more } = await claim(quick, signal);
    return { more, paceMs: quickPaceMs(claimed) };
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

type Run = (signal: AbortSignal) => Promise<{ more: boolean; restMs?: number; paceMs?: number }>;

/** Delays a run until `paceMs` or `restMs` after the start of the one before, even if its loop is woken earlier. */
function apart(run: Run): Run {
  let fromMs = -Infinity;
  return async (signal) => {
    const waitMs = fromMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
    const startedMs = performance.now();
    const result = await run(signal);
    fromMs = startedMs + (result.paceMs ?? result.restMs ?? PACE_MS);
    return result;
  };
}

/** Marks lanes with long attempts as slow, for other processes and later claims. */
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
  // Between claims, the database's time is advanced by the monotonic clock, so that a change of this machine's clock has no effect.
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
    'Hosts that get no attempts from this process, or one probe, because no attempt connects',
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

/** A claim of so many deliveries shows that many lanes have events due. */
const LARGE_CLAIM = 32;
const PACE_AFTER_LARGE_CLAIM_MS = 20;

/**
 * The time between the starts of two claims of quick lanes. It is longer after a large claim: several places of each lane become free meanwhile,
 * so the next claim locks and moves fewer lanes for each delivery. Attempts in flight last longer than that, so no place stays empty for long.
 * @param claimed deliveries of the last claim.
 */
export const quickPaceMs = (claimed: number): number => (claimed < LARGE_CLAIM ? PACE_MS : PACE_AFTER_LARGE_CLAIM_MS);

/** The largest share of the time that claims of new and slow lanes may take. */
const SHARE = 1 / 15;
/** On an overloaded machine the time between claims grows at most by this factor. */
const MOST_STRETCH = 10;
/** After a claim without a result: lanes whose deliveries have all ended are claimed once more, and must not delay the next lane for long. */
const AFTER_NOTHING_MS = 5;

/**
 * The time between the starts of two claims of new and slow lanes. A longer claim shows that the process, its database or a machine is busier,
 * and that less is left for the quick lanes: each attempt costs far more than its claim.
 * @param everyMs from one attempt to the next on an idle machine.
 * @param last the last claim: its deliveries, whether there may be more, and how long it and the start of its attempts took.
 */
export function unprovenRestMs(everyMs: number, last: { claimed: number; more: boolean; tookMs: number }): number {
  if (last.claimed === 0 && last.more) return AFTER_NOTHING_MS;
  const stretched = Math.min(last.tookMs / SHARE, MOST_STRETCH * everyMs);
  return Math.max(1, last.claimed) * Math.max(everyMs, stretched);
}
