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

/**
 * Reads a Retry-After header (RFC 9110, 10.2.3): seconds, or a date.
 * @returns seconds from now, never negative; null when there is none or it makes no sense.
 */
export function parseRetryAfter(header: string | string[] | undefined, now: Date): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Date.parse takes far more than HTTP dates; only the weekday form is one.
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, (date - now.getTime()) / 1000);
}
