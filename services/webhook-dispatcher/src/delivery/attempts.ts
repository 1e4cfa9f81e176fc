import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import type { Sender } from '../sending/sender.ts';
import { releaseDeliveries, type Claimed } from '../store/claim.ts';
import { merchantOf, openLaneCircuits } from '../store/lane.ts';
import { settleAttempts, type Outcome } from '../store/settle.ts';
import type { Pace } from '../state.ts';
import type { AttemptReport } from './attempt-report.ts';
import type { HostCircuits } from './host-circuits.ts';
import type { InFlightLimits, Place } from './in-flight-limits.ts';
import { laneCircuitPolicy } from './lane-circuit.ts';
import { outcomeOf } from './outcome.ts';
import { createOutcomeWriter } from './outcome-writer.ts';

type AttemptOptions = {
  pool: Pool;
  sender: Sender;
  vault: KeyVault;
  hostCircuits: HostCircuits;
  report: AttemptReport;
  /** The database's time. */
  databaseNow: () => Date;
  retryDelaysSeconds: readonly number[];
  logger: Logger;
};

/** For deliveries that could not be sent for a reason on our side. */
const RELEASE_PAUSE_SECONDS = 5;
/** For lanes whose signing key does not open: nothing can be sent until an operator repairs it. */
const BROKEN_KEY_PAUSE_SECONDS = 60;

/** The attempts in flight: each counts against the limits from its start until its outcome is stored. */
export function createAttempts(
  options: AttemptOptions & {
    inFlight: InFlightLimits;
    /** Called when deliveries of these paces may have been waiting for a place that is free now. */
    onFree: (freed: ReadonlySet<Pace>) => void;
  },
) {
  const { pool, vault, inFlight, onFree, logger } = options;
  const deliver = createDeliver(options);
  const running = new Set<Promise<void>>();

  function begin(delivery: Claimed, secret: string, place: Place): void {
    const attempt = deliver(delivery, secret, place)
      .catch((error: unknown) =>
        logger.error({ error, event_id: delivery.event_id }, 'an attempt ended without an outcome'),
      )
      .finally(() => {
        running.delete(attempt);
        onFree(place.release());
      });
    running.add(attempt);
  }

  /** @returns null for a signing key that does not open, which is not the receiver's fault. */
  function open(delivery: Claimed): string | null {
    try {
      return vault.open(delivery.key_id, delivery);
    } catch (error) {
      logger.error({ error, merchant_id: delivery.merchant_id }, 'a signing key cannot be opened');
      return null;
    }
  }

  return {
    /** Starts an attempt for each delivery that may be sent, and releases the others. */
    async start(claimed: readonly Claimed[]): Promise<void> {
      const refused: Claimed[] = [];
      const unopened: Claimed[] = [];
      for (const delivery of claimed) {
        const secret = open(delivery);
        const place = secret === null ? null : inFlight.acquire(delivery);
        if (secret === null) unopened.push(delivery);
        else if (place === null) refused.push(delivery);
        else begin(delivery, secret, place);
      }
      // A host's circuit may have opened since its lanes were claimed.
      await releaseDeliveries(pool, refused, RELEASE_PAUSE_SECONDS);
      if (unopened.length === 0) return;
      await releaseDeliveries(pool, unopened, 0);
      const merchantIds = new Set(unopened.map((delivery) => delivery.merchant_id));
      await openLaneCircuits(pool, merchantIds, BROKEN_KEY_PAUSE_SECONDS);
    },
    /** Waits for the attempts in flight and for their outcomes to be stored. */
    async idle(): Promise<void> {
      await Promise.all(running);
    },
  };
}

/** Makes the attempt for a claimed delivery. The promise resolves once its outcome is stored. */
function createDeliver(options: AttemptOptions): (delivery: Claimed, secret: string, place: Place) => Promise<void> {
  const { pool, sender, retryDelaysSeconds, logger, report, hostCircuits, databaseNow } = options;
  const write = (outcomes: readonly Outcome[]) => settleAttempts(pool, outcomes, laneCircuitPolicy);
  const store = createOutcomeWriter({ write, logger });
  return async (delivery, secret, place) => {
    const startedAt = databaseNow();
    const { event_id: eventId, key_id: keyId, url, body } = delivery;
    const ended = report.started(delivery);
    const merchantId = merchantOf(delivery.merchant_id);
    const result = await sender.send({ eventId, merchantId, url, keyId, secret, body });
    const pace = place.ended(result.isComplete);
    faultPoint('webhook-answered');
    ended(result);
    hostCircuits.record(delivery.host, result.errorCategory);
    if (result.errorCategory === 'interrupted') return releaseDeliveries(pool, [delivery], RELEASE_PAUSE_SECONDS);
    const outcome = outcomeOf(delivery, result, { startedAt, retryDelaysSeconds, random: Math.random(), pace });
    await store(outcome);
    if (outcome.error_category !== null && outcome.retry_delay_seconds === null) report.failed(delivery);
  };
}
