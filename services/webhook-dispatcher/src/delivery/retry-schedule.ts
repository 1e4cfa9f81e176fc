/** Each delay is stretched or shortened by up to this much, so that events which failed together do not come back together. */
const JITTER = 0.2;

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

/** Seconds from the first attempt to the last retry at the latest, as far as delays and their jitter go. */
export function latestRetrySeconds(delaysSeconds: readonly number[]): number {
  return (1 + JITTER) * delaysSeconds.reduce((sum, delay) => sum + delay, 0);
}
