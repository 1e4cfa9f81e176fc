import type { AttemptResult } from '../sending/sender.ts';
import type { Claimed } from '../store/claim.ts';
import type { Pace } from '../state.ts';
import type { Outcome } from '../store/settle.ts';
import { retryDelaySeconds } from './retry-schedule.ts';

/**
 * What to store of an attempt, and when to retry if it failed.
 * @param how.startedAt by the database's clock.
 * @param how.random from 0 to 1.
 * @param how.pace its lane's, now that it has ended.
 */
export function outcomeOf(
  { event_id, merchant_id, lease_id, cycle, attempts, key_id }: Claimed,
  result: AttemptResult,
  how: { startedAt: Date; retryDelaysSeconds: readonly number[]; random: number; pace: Pace },
): Outcome {
  const n = attempts + 1;
  return {
    event_id,
    merchant_id,
    lease_id,
    cycle,
    n,
    key_id,
    started_at: how.startedAt,
    duration_ms: result.durationMs,
    http_status: result.httpStatus,
    error_category: result.errorCategory,
    remote_ip: result.remoteAddress,
    pace: how.pace,
    retry_delay_seconds: retryDelaySeconds({
      failures: n,
      delaysSeconds: how.retryDelaysSeconds,
      retryAfterSeconds: result.retryAfterSeconds,
      random: how.random,
    }),
  };
}
