import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `check` until it no longer throws, and returns its result. Tests wait with this instead of sleeping. The
 * default timeout is several times the interval of the slowest loops of the services, which run every ten seconds, so
 * that a timeout means a missing event and not a busy machine.
 * @throws the last error of `check` after `timeoutMs`.
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
