import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `check` until it no longer throws, and hands back what it returned: how tests wait, instead of sleeping.
 * @throws the last error of `check` once `timeoutMs` has passed.
 */
export async function eventually<T>(
  check: () => Promise<T> | T,
  { timeoutMs = 10_000, intervalMs = 25 }: { timeoutMs?: number; intervalMs?: number } = {},
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
