import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import type { Sender } from '../sending/sender.ts';
import { releaseDeliveries, type Claimed, settleAttempts, type Outcome } from './claim.sql.ts';
import { merchantOf, openLaneCircuits } from './lane.sql.ts';
import type { Pace } from '../state.ts';
import type { AttemptReport } from './attempt-report.ts';
import type { HostCircuits } from './host-circuits.ts';
import { type InFlightLimits, type Place, laneCircuitPolicy } from './in-flight-limits.ts';
import { outcomeOf } from '../events/outcome.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, leavesConnectionUsable } from '@quittance/postgres/errors.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';

export type AttemptSources = {
  pool: Pool;
  sender: Sender;
  vault: KeyVault;
  retryDelaysSeconds: readonly number[];
  logger: Logger;
};

type AttemptOptions = AttemptSources & {
  hostCircuits: HostCircuits;
  report: AttemptReport;
  /** The database's time. */
  databaseNow: () => Date;
};

/** After an error on our side that prevented sending. */
const RELEASE_PAUSE_SECONDS = 5;
/** For lanes whose signing key does not open: nothing can be sent until an operator fixes it. */
const BROKEN_KEY_PAUSE_SECONDS = 60;

/** The attempts in flight. Each takes a place from its start until its outcome is stored. */
export function createAttempts(
  options: AttemptOptions & {
    inFlight: InFlightLimits;
    /** Called when a place is free again that deliveries of these paces may be waiting for. */
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

  /** @returns null if the signing key does not open, which is our fault. */
  function open(delivery: Claimed): string | null {
    try {
      return vault.open(delivery.key_id, delivery);
    } catch (error) {
      logger.error({ error, merchant_id: merchantOf(delivery.lane_id) }, 'a signing key cannot be opened');
      return null;
    }
  }

  return {
    /** Starts an attempt for each delivery that may be sent now, and releases the others. */
    async start(claimed: readonly Claimed[]): Promise<void> {
      const refused: Claimed[] = [];
      const unopened: Claimed[] = [];
      // Opened once for all of a lane's deliveries: opening costs as much as signing.
      const secrets = new Map<string, string | null>();
      for (const delivery of claimed) {
        const known = secrets.get(delivery.key_id);
        const secret = known === undefined ? open(delivery) : known;
        secrets.set(delivery.key_id, secret);
        const place = secret === null ? null : inFlight.acquire(delivery);
        if (secret === null) unopened.push(delivery);
        else if (place === null) refused.push(delivery);
        else begin(delivery, secret, place);
      }
      // A host's circuit may have opened since its lanes were claimed.
      await releaseDeliveries(pool, refused, RELEASE_PAUSE_SECONDS);
      if (unopened.length === 0) return;
      await releaseDeliveries(pool, unopened, 0);
      const laneIds = new Set(unopened.map((delivery) => delivery.lane_id));
      await openLaneCircuits(pool, laneIds, BROKEN_KEY_PAUSE_SECONDS);
    },
    /** Waits for the attempts in flight and for their outcomes to be stored. */
    async idle(): Promise<void> {
      await Promise.all(running);
    },
  };
}

/** Makes the attempt for a claimed delivery. Resolves when its outcome is stored. */
function createDeliver(options: AttemptOptions): (delivery: Claimed, secret: string, place: Place) => Promise<void> {
  const { pool, sender, retryDelaysSeconds, logger, report, hostCircuits, databaseNow } = options;
  const write = (outcomes: readonly Outcome[]) => settleAttempts(pool, outcomes, laneCircuitPolicy);
  const store = createOutcomeWriter({ write, logger });
  return async (delivery, secret, place) => {
    const startedAt = databaseNow();
    const { event_id: eventId, key_id: keyId, url, body } = delivery;
    const ended = report.started(delivery);
    const merchantId = merchantOf(delivery.lane_id);
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

/** A larger batch costs less for each outcome, and this one is still a short transaction. */
const MAX_BATCH = 256;
const RETRY_MS = 250;

/**
 * Stores outcomes in batches: with a commit for each, commits would be the bottleneck. An outcome cannot be produced again, so the writer waits
 * for an unavailable database. The caller limits how many wait: each keeps its attempt's place until it is stored.
 * @param options.write writes all the outcomes or none.
 * @returns a function that resolves when the outcome is written, or is given up because it cannot be written.
 */
export function createOutcomeWriter<O>(options: {
  write: (outcomes: readonly O[]) => Promise<void>;
  logger: Logger;
}): (outcome: O) => Promise<void> {
  const { write, logger } = options;
  const add = createMicroBatcher({ maxSize: MAX_BATCH, run: writeBatch });

  async function writeBatch(batch: readonly O[]): Promise<(Promise<void> | undefined)[]> {
    try {
      await write(batch);
    } catch (error) {
      // One outcome may be the cause, or wait long for a lock. It must not delay the others.
      if (batch.length > 1 && leavesConnectionUsable(error)) {
        const results: (Promise<void> | undefined)[] = [];
        for (const outcome of batch) results.push(...(await writeBatch([outcome])));
        return results;
      }
      if (isUnavailable(error)) {
        logger.warn({ error, outcomes: batch.length }, 'outcomes could not be written yet');
        await sleep(RETRY_MS);
        return batch.map(add);
      }
      logger.error({ error, outcome: batch[0] }, 'an outcome cannot be written; its lease will expire');
    }
    return batch.map(() => undefined);
  }

  return add;
}
