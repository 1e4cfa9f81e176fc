import { retryDelaySeconds } from './retry-schedule.ts';
import type { AttemptResult } from '../sending/sender.ts';
import type { Claimed } from '../store/claim.ts';
import type { Outcome } from '../store/settle.ts';

/**
 * What to write down of an attempt, and when to try again if it failed.
 * @param how.startedAt by the database's clock.
 * @param how.random from 0 to 1.
 */
export function outcomeOf(
  delivery: Claimed,
  result: AttemptResult,
  how: { startedAt: Date; retryDelaysSeconds: readonly number[]; random: number },
): Outcome {
  const n = delivery.attempts + 1;
  return {
    eventId: delivery.event_id,
    merchantId: delivery.merchant_id,
    leaseId: delivery.lease_id,
    cycle: delivery.cycle,
    n,
    keyId: delivery.key_id,
    startedAt: how.startedAt,
    durationMs: result.durationMs,
    httpStatus: result.httpStatus,
    errorCategory: result.errorCategory,
    remoteAddress: result.remoteAddress,
    retryDelaySeconds: retryDelaySeconds({
      failures: n,
      delaysSeconds: how.retryDelaysSeconds,
      retryAfterSeconds: result.retryAfterSeconds,
      random: how.random,
    }),
  };
}
