import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAttemptReport } from '../attempt-report.ts';
import type { AttemptReport } from '../attempt-report.ts';
import { createDatabaseClock } from '../database-clock.ts';
import type { DatabaseClock } from '../database-clock.ts';
import { createHostBreakers } from '../host-breakers.ts';
import type { HostBreakers } from '../host-breakers.ts';
import type { KeyVault } from '../keys.ts';
import { createLanes } from '../lanes.ts';
import type { LaneBounds } from '../lanes.ts';
import { outcomeOf } from '../outcome.ts';
import type { Pressure } from '../pressure.ts';
import type { Sender } from '../send.ts';
import { createSettler } from '../settler.ts';
import { claimDeliveries, readDatabaseTime, releaseDeliveries } from '../store/claim.ts';
import type { Claimed } from '../store/claim.ts';
import { settleAttempts } from '../store/settle.ts';
import type { Outcome } from '../store/settle.ts';

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
/** Claims begin at least this far apart, unless one is known to find more: a few at once cost little more than one. */
const PACE_MS = 5;
/** Three times the longest attempt: a lease lapses only when its process is gone. */
const LEASE_SECONDS = 45;
/** A process that was stopped on the way must not begin what another one will soon take over. */
const BEGIN_WITHIN_MS = 15_000;
/** For deliveries that could not be sent for a reason on our side. */
const PAUSE_SECONDS = 5;

/**
 * Sends what is due: claim and commit, POST without a transaction, settle in batches. A delivery keeps its place among the attempts
 * in flight until its outcome is written, so a slow database slows the claiming down.
 * @param options.stopping aborted as soon as the process stops: nothing is claimed from then on.
 */
export function startDeliverLoop(
  options: DeliverOptions & { bounds: LaneBounds; pressure: Pressure; stopping: AbortSignal },
): DeliverLoop {
  const { pool, bounds, pressure, stopping, logger, metrics } = options;
  const breakers = createHostBreakers({ recoveredAt: bounds.host });
  const closedHosts = metrics.gauge('webhook_closed_hosts', 'Hosts this process does not try, because none connects');
  metrics.beforeScrape(() => closedHosts.set(breakers.closedCount()));
  const lanes = createLanes(bounds, breakers);
  const report = createAttemptReport(options);
  const databaseClock = createDatabaseClock();
  const deliver = createDeliver({ ...options, report, breakers, databaseClock });
  const inFlight = new Set<Promise<void>>();

  async function run(signal: AbortSignal): Promise<{ more: boolean }> {
    const isStopping = (): boolean => stopping.aborted || signal.aborted;
    if (pressure.pauseReason() === 'clock') pressure.databaseTime(await readDatabaseTime(pool));
    const free = lanes.claimBounds();
    if (isStopping() || free.room === 0 || pressure.pauseReason() !== null) return { more: false };
    const askedMs = performance.now();
    pace.began();
    const { claimed, more, databaseNow } = await claimDeliveries(pool, { ...free, leaseSeconds: LEASE_SECONDS });
    report.claimed(claimed);
    databaseClock.set(databaseNow);
    pressure.databaseTime(databaseNow);
    if (claimed.length > 0) faultPoint('delivery-claimed');
    const isTooLate = performance.now() - askedMs > BEGIN_WITHIN_MS;
    if (!isStopping() && !isTooLate && pressure.pauseReason() === null) await startAttempts(claimed);
    else await releaseDeliveries(pool, claimed, 0);
    return { more };
  }

  async function startAttempts(claimed: Claimed[]): Promise<void> {
    const refused: Claimed[] = [];
    const open = createOpener(options);
    for (const delivery of claimed) {
      const secret = open(delivery);
      if (secret !== null && lanes.enter(delivery)) startAttempt(delivery, secret);
      else refused.push(delivery);
    }
    // A host may have been closed since its lanes were claimed.
    await releaseDeliveries(pool, refused, PAUSE_SECONDS);
  }

  function startAttempt(delivery: Claimed, secret: string): void {
    const attempt = deliver(delivery, secret)
      .catch((error: unknown) => logger.error({ error, event_id: delivery.event_id }, 'an attempt came to nothing'))
      .finally(() => {
        inFlight.delete(attempt);
        if (lanes.leave(delivery)) pace.wake();
      });
    inFlight.add(attempt);
  }

  const loop = startLoop({ name: 'deliver', intervalMs: POLL_MS, logger, metrics, run });
  const pace = createPace(() => loop.wake());
  return {
    wake: () => pace.wake(),
    async close() {
      pace.close();
      await loop.close();
      await Promise.all(inFlight);
    },
  };
}

/** Keeps wake-ups for a moment when the last claim began only just before. */
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

/**
 * Opens signing keys for the deliveries of one claim, each key once.
 * @returns null for a key that does not open, which is no fault of the receiver's: nothing can be sent until somebody mends it.
 */
function createOpener({ vault, logger }: DeliverOptions): (delivery: Claimed) => string | null {
  const opened = new Map<string, string | null>();
  const open = (delivery: Claimed): string | null => {
    try {
      return vault.open(delivery.key_id, delivery);
    } catch (error) {
      logger.error({ error, merchant_id: delivery.merchant_id }, 'a signing key cannot be opened');
      return null;
    }
  };
  return (delivery) => {
    const { key_id: keyId } = delivery;
    if (!opened.has(keyId)) opened.set(keyId, open(delivery));
    return opened.get(keyId) ?? null;
  };
}

/** Makes the attempt for a claimed delivery; done once its outcome is written. */
function createDeliver(
  options: DeliverOptions & { report: AttemptReport; breakers: HostBreakers; databaseClock: DatabaseClock },
): (delivery: Claimed, secret: string) => Promise<void> {
  const { pool, sender, retryDelaysSeconds, logger, report, breakers, databaseClock } = options;
  const settler = createSettler<Outcome>({ write: (outcomes) => settleAttempts(pool, outcomes), logger });
  return async (delivery, secret) => {
    const startedAt = databaseClock.now();
    const result = await sender.send({
      eventId: delivery.event_id,
      url: delivery.url,
      keyId: delivery.key_id,
      secret,
      body: delivery.body,
    });
    faultPoint('webhook-answered');
    report.ended(delivery, result);
    breakers.ended(delivery.host, result.errorCategory);
    if (result.errorCategory === 'interrupted') return releaseDeliveries(pool, [delivery], PAUSE_SECONDS);
    const outcome = outcomeOf(delivery, result, { startedAt, retryDelaysSeconds, random: Math.random() });
    await settler.settle(outcome);
    if (outcome.errorCategory !== null && outcome.retryDelaySeconds === null) report.failed(delivery);
  };
}
