import { setTimeout as sleep } from 'node:timers/promises';

/** The first pause and the longest one; each is twice the one before. */
export type Backoff = { firstMs: number; maxMs: number };

/**
 * The pause before another try, between half and the whole of its step, so that processes that failed together
 * do not all come back together.
 * @param attempt how many tries have failed since the last success, from 0.
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: Backoff, random: () => number = Math.random): number {
  const step = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return step / 2 + (step / 2) * random();
}

/** Waits, or returns at once when the signal aborts. Never throws: the caller looks at the signal. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal }).catch(() => undefined);
}

/** The promise's value, or an error after `limitMs`. What it was doing goes on; the caller has to end that. */
export async function within<T>(limitMs: number, what: string, promise: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const late = sleep(limitMs, undefined, { signal: settled.signal }).then(
    () => Promise.reject(new Error(`${what} took longer than ${limitMs} ms`)),
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}
