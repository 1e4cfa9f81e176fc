import type { AttemptResult } from '../sending/sender.ts';
import type { Claimed, Outcome } from '../lanes/claim.sql.ts';
import type { Pace } from '../state.ts';

/**
 * What to store about an attempt, and when to retry if it failed.
 * @param how.startedAt by the database's clock.
 * @param how.random from 0 to 1.
 * @param how.pace the lane's pace after the attempt.
 */
export function outcomeOf(
  { event_id, lane_id, lease_id, cycle, attempts, key_id }: Claimed,
  result: AttemptResult,
  how: { startedAt: Date; retryDelaysSeconds: readonly number[]; random: number; pace: Pace },
): Outcome {
  const n = attempts + 1;
  return {
    event_id,
    lane_id,
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

/** 5 s, 1 min, 5 min, 30 min, 2 h, 8 h, 20 h, 40 h: eight retries over three days. WEBHOOK_RETRY_DELAYS_SECONDS replaces it. */
export const defaultRetryDelaysSeconds = [5, 60, 300, 1_800, 7_200, 28_800, 72_000, 144_000];

/** Each delay varies by up to this share, so that events that failed together are not retried together. */
const JITTER = 0.2;

/** Time after the last retry before an event is given up: a receiver's Retry-After may have delayed each retry. */
const GIVE_UP_GRACE_SECONDS = 3 * 86_400;

/**
 * How long to wait after a failed attempt.
 * A receiver's Retry-After counts up to the next delay of the schedule: it may slow retries down, but never stop them.
 * @param failures failed attempts of this cycle, including the last one.
 * @param delaysSeconds one delay a retry; their number is the number of retries.
 * @param random from 0 to 1.
 * @returns seconds, or null if no retry is left.
 */
export function retryDelaySeconds({
  failures,
  delaysSeconds,
  retryAfterSeconds,
  random,
}: {
  failures: number;
  delaysSeconds: readonly number[];
  retryAfterSeconds: number | null;
  random: number;
}): number | null {
  const nominal = delaysSeconds[failures - 1];
  if (nominal === undefined) return null;
  const delay = nominal * (1 + JITTER * (2 * random - 1));
  const next = delaysSeconds[failures] ?? nominal;
  return Math.max(delay, Math.min(retryAfterSeconds ?? 0, next));
}

/** Age of a cycle at which its event is given up, if its receiver failed all that time and attempts were skipped. */
export function giveUpAfterSeconds(delaysSeconds: readonly number[]): number {
  return (1 + JITTER) * delaysSeconds.reduce((sum, delay) => sum + delay, 0) + GIVE_UP_GRACE_SECONDS;
}
