/** 5 s, 1 min, 5 min, 30 min, 2 h, 8 h, 20 h, 40 h: eight retries over three days. WEBHOOK_RETRY_DELAYS_SECONDS replaces it. */
export const defaultRetryDelaysSeconds = [5, 60, 300, 1_800, 7_200, 28_800, 72_000, 144_000];

/** Each delay is stretched or shortened by up to this much, so that events which failed together do not come back together. */
const JITTER = 0.2;

/** Added to the time of the last retry before an event is given up: a receiver's Retry-After may have put each retry off. */
const GIVE_UP_GRACE_SECONDS = 3 * 86_400;

/**
 * How long to wait after a failed attempt.
 * A receiver's Retry-After is honoured as far as it lies between this delay and the next: it may slow us down, never stop us.
 * @param failures failed attempts of this cycle, the last one included, from 1.
 * @param delaysSeconds one delay a retry; their number is the number of retries.
 * @param random from 0 to 1.
 * @returns seconds, or null when no retry is left.
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

/** Age of a cycle at which its event is given up, if its receiver failed all that time and attempts were spared. */
export function giveUpAfterSeconds(delaysSeconds: readonly number[]): number {
  return (1 + JITTER) * delaysSeconds.reduce((sum, delay) => sum + delay, 0) + GIVE_UP_GRACE_SECONDS;
}
