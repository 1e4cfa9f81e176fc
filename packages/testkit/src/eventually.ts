import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `check` until it no longer throws, and returns its result. Tests wait with this instead of sleeping. By
 * default it waits almost as long as a test may take (jest's `testTimeout`), so that a busy machine fails no test. If the
 * first wait of a test fails, the last error of `check` shows what is missing.
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
