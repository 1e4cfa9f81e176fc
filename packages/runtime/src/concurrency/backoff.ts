import { setTimeout as sleep } from 'node:timers/promises';

/** The first and the longest pause. Each pause is twice the previous one. */
export type Backoff = { firstMs: number; maxMs: number };

/**
 * The pause before the next attempt: a random time between half of its step and the whole step, so that processes that
 * failed together don't retry together.
 * @param failures since the last success, from 0.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random: () => number = Math.random): number {
  const step = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
  return step / 2 + (step / 2) * random();
}

/** Waits, or returns immediately when the signal aborts. Never throws: the caller checks the signal. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal }).catch(() => undefined);
}
