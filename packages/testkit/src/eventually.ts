import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `check` until it no longer throws, and hands back what it returned: how tests wait, instead of sleeping.
 * Its patience is several times that of the slowest loops of the services, which look every ten seconds: a test that fails
 * by it has waited for what does not come, and not for a machine that was busy.
 * @throws the last error of `check` once `timeoutMs` has passed.
 */
export async function eventually<T>(
  check: () => Promise<T> | T,
  { timeoutMs = 30_000, intervalMs = 25 }: { timeoutMs?: number; intervalMs?: number } = {},
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
