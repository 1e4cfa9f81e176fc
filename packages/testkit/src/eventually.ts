import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `check` until it no longer throws, and returns its result. Tests wait with this instead of sleeping. By
 * default it ends shortly before jest ends the test, so that a busy machine fails no test, and a missing event is shown
 * by the last error of `check`.
 * @throws the last error of `check` after `timeoutMs`.
 */
export async function eventually<T>(
  check: () => Promise<T> | T,
  { timeoutMs = 200_000, intervalMs = 25 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
      await delay(intervalMs);
    }
  }
}
