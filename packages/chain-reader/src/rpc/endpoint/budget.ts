import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError } from '../errors.ts';

/** How many calls an endpoint's plan allows: so many a second, and those of one second at once. */
export type Budget = {
  /** Most calls that may leave together. */
  readonly burst: number;
  /** Milliseconds until so many calls, at most `burst`, may leave. */
  waitMs(calls: number): number;
  /**
   * Waits until so many calls may leave, in the order of asking.
   * @throws RpcError `no_budget` at once when that would take longer than a read should wait; `unreachable` when closed.
   */
  take(calls: number): Promise<void>;
  close(): void;
};

/**
 * A token bucket, kept as the moment at which everything taken so far will have been earned.
 * @param requestsPerSecond null for no limit.
 * @param now monotonic milliseconds.
 */
export function createBudget(
  requestsPerSecond: number | null,
  { maxWaitMs, now = () => performance.now() }: { maxWaitMs: number; now?: () => number },
): Budget {
  const closing = new AbortController();
  const burst = requestsPerSecond === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(requestsPerSecond));
  const callMs = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond;
  let earnedAt = Number.NEGATIVE_INFINITY;
  const waitMs = (calls: number) => {
    if (callMs === 0) return 0;
    return Math.max(0, Math.max(earnedAt, now()) + calls * callMs - burst * callMs - now());
  };

  return {
    burst,
    waitMs,
    async take(calls) {
      if (callMs === 0) return;
      const pauseMs = waitMs(calls);
      if (pauseMs > maxWaitMs) throw new RpcError('no_budget', 'our budget for this endpoint is used up');
      // Booked before the wait, so that whoever asks next stands behind.
      earnedAt = Math.max(earnedAt, now()) + calls * callMs;
      if (pauseMs === 0) return;
      try {
        await sleep(pauseMs, undefined, { signal: closing.signal });
      } catch {
        throw new RpcError('unreachable', 'the endpoint is closed');
      }
    },
    close: () => closing.abort(),
  };
}
