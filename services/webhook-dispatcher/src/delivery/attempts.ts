import type { Pool } from '@quittance/postgres/pool.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { inSpan } from '@quittance/runtime/tracing/tracing.ts';
import type { AttemptReport } from './attempt-report.ts';
import { endAttempt, startAttempt } from './attempt-span.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { HostBreakers } from './host-breakers.ts';
import type { KeyVault } from '../endpoints/key-vault.ts';
import type { InFlightLimits } from './in-flight-limits.ts';
import { outcomeOf } from './outcome.ts';
import type { Sender } from '../sending/sender.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import { releaseDeliveries } from '../store/claim.ts';
import type { Claimed } from '../store/claim.ts';
import { restLanes } from '../store/lane.ts';
import { settleAttempts } from '../store/settle.ts';
import type { Outcome } from '../store/settle.ts';

export type Attempts = {
  /** Begins an attempt for each delivery that may be sent, and gives back the others. */
  start(claimed: readonly Claimed[]): Promise<void>;
  /** Waits for the attempts in flight and for their outcomes to be written. */
  idle(): Promise<void>;
};

type AttemptOptions = {
  pool: Pool;
  sender: Sender;
  vault: KeyVault;
  breakers: HostBreakers;
  report: AttemptReport;
  databaseClock: DatabaseClock;
  retryDelaysSeconds: readonly number[];
  logger: Logger;
};

/** For deliveries that could not be sent for a reason on our side. */
const PAUSE_SECONDS = 5;
/** For lanes to which nothing can be sent until somebody mends something. */
const REST_SECONDS = 60;

/** The attempts in flight: each has its places from its beginning until its outcome is written. */
export function createAttempts(
  options: AttemptOptions & {
    lanes: InFlightLimits;
    /** Hears that something may have been waiting for a place that is free now. */
    onFree: () => void;
  },
): Attempts {
  const { pool, lanes, onFree, logger } = options;
  const deliver = createDeliver(options);
  const inFlight = new Set<Promise<void>>();

  function begin(delivery: Claimed, secret: string): void {
    const attempt = deliver(delivery, secret)
      .catch((error: unknown) => logger.error({ error, event_id: delivery.event_id }, 'an attempt came to nothing'))
      .finally(() => {
        inFlight.delete(attempt);
        if (lanes.release(delivery)) onFree();
      });
    inFlight.add(attempt);
  }

  return {
    async start(claimed) {
      const refused: Claimed[] = [];
      const unopened: Claimed[] = [];
      const open = createOpener(options);
      for (const delivery of claimed) {
        const secret = open(delivery);
        if (secret === null) unopened.push(delivery);
        else if (lanes.acquire(delivery)) begin(delivery, secret);
        else refused.push(delivery);
      }
      // A host may have been closed since its lanes were claimed.
      await releaseDeliveries(pool, refused, PAUSE_SECONDS);
      if (unopened.length === 0) return;
      await releaseDeliveries(pool, unopened, 0);
      await restLanes(pool, new Set(unopened.map((delivery) => delivery.merchant_id)), REST_SECONDS);
    },
    async idle() {
      await Promise.all(inFlight);
    },
  };
}

/**
 * Opens signing keys for the deliveries of one claim, each key once.
 * @returns null for a key that does not open, which is no fault of the receiver's: nothing can be sent until somebody mends it.
 */
function createOpener({ vault, logger }: AttemptOptions): (delivery: Claimed) => string | null {
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
function createDeliver(options: AttemptOptions): (delivery: Claimed, secret: string) => Promise<void> {
  const { pool, sender, retryDelaysSeconds, logger, report, breakers, databaseClock } = options;
  const outcomeWriter = createOutcomeWriter<Outcome>({ write: (outcomes) => settleAttempts(pool, outcomes), logger });
  return async (delivery, secret) => {
    const startedAt = databaseClock.now();
    const { event_id: eventId, key_id: keyId, url, body } = delivery;
    const span = startAttempt(delivery);
    const result = await sender.send({ eventId, url, keyId, secret, body });
    faultPoint('webhook-answered');
    inSpan(span, () => report.ended(delivery, result));
    endAttempt(span, result);
    breakers.ended(delivery.host, result.errorCategory);
    if (result.errorCategory === 'interrupted') return releaseDeliveries(pool, [delivery], PAUSE_SECONDS);
    const outcome = outcomeOf(delivery, result, { startedAt, retryDelaysSeconds, random: Math.random() });
    await outcomeWriter.write(outcome);
    if (outcome.errorCategory !== null && outcome.retryDelaySeconds === null) report.failed(delivery);
  };
}
