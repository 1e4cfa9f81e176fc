import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAttemptReport } from '../attempt-report.ts';
import type { AttemptReport } from '../attempt-report.ts';
import type { KeyVault } from '../keys.ts';
import { createLanes } from '../lanes.ts';
import type { LaneBounds } from '../lanes.ts';
import { outcomeOf } from '../outcome.ts';
import type { Sender } from '../send.ts';
import { createSettler } from '../settler.ts';
import { claimDeliveries, releaseDeliveries } from '../store/claim.ts';
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
/** Three times the longest attempt: a lease lapses only when its process is gone. */
const LEASE_SECONDS = 45;
/** For deliveries that could not be sent for a reason on our side. */
const PAUSE_SECONDS = 5;

/**
 * Sends what is due: claim and commit, POST without a transaction, settle in batches. A delivery keeps its place among the attempts
 * in flight until its outcome is written, so a slow database slows the claiming down.
 * @param options.stopping aborted as soon as the process stops: nothing is claimed from then on.
 */
export function startDeliverLoop(options: DeliverOptions & { bounds: LaneBounds; stopping: AbortSignal }): DeliverLoop {
  const { pool, bounds, stopping, logger, metrics } = options;
  const lanes = createLanes(bounds);
  const report = createAttemptReport(options);
  const deliver = createDeliver(options, report);
  const inFlight = new Set<Promise<void>>();

  async function run(signal: AbortSignal): Promise<{ more: boolean }> {
    const isStopping = (): boolean => stopping.aborted || signal.aborted;
    const room = lanes.room();
    if (isStopping() || room === 0) return { more: false };
    const { claimed, more } = await claimDeliveries(pool, {
      room,
      perLane: bounds.lane,
      inFlight: lanes.inFlight(),
      fullHosts: lanes.fullHosts(),
      leaseSeconds: LEASE_SECONDS,
    });
    report.claimed(claimed);
    if (claimed.length > 0) faultPoint('delivery-claimed');
    if (isStopping()) await releaseDeliveries(pool, claimed, 0);
    else await startAttempts(claimed);
    return { more };
  }

  async function startAttempts(claimed: Claimed[]): Promise<void> {
    const refused: Claimed[] = [];
    for (const delivery of claimed) {
      if (lanes.enter(delivery)) startAttempt(delivery);
      else refused.push(delivery);
    }
    // Several lanes may lead to one host, and together go beyond its bound.
    await releaseDeliveries(pool, refused, PAUSE_SECONDS);
  }

  function startAttempt(delivery: Claimed): void {
    const attempt = deliver(delivery)
      .catch((error: unknown) => logger.error({ error, event_id: delivery.event_id }, 'an attempt came to nothing'))
      .finally(() => {
        inFlight.delete(attempt);
        if (lanes.leave(delivery)) loop.wake();
      });
    inFlight.add(attempt);
  }

  const loop = startLoop({ name: 'deliver', intervalMs: POLL_MS, logger, metrics, run });
  return {
    wake: () => loop.wake(),
    async close() {
      await loop.close();
      await Promise.all(inFlight);
    },
  };
}

/** Makes the attempt for a claimed delivery; done once its outcome is written. */
function createDeliver(options: DeliverOptions, report: AttemptReport): (delivery: Claimed) => Promise<void> {
  const { pool, sender, vault, retryDelaysSeconds, logger } = options;
  const settler = createSettler<Outcome>({ write: (outcomes) => settleAttempts(pool, outcomes), logger });
  return async (delivery) => {
    const result = await sender.send({
      eventId: delivery.event_id,
      url: delivery.url,
      keyId: delivery.key_id,
      secret: vault.open(delivery.key_id, delivery),
      body: delivery.body,
    });
    faultPoint('webhook-answered');
    report.ended(delivery, result);
    if (result.errorCategory === 'interrupted') await releaseDeliveries(pool, [delivery], PAUSE_SECONDS);
    else await settler.settle(outcomeOf(delivery, result, { retryDelaysSeconds, random: Math.random() }));
  };
}
