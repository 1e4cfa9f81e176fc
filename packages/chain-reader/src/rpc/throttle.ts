import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError } from './errors.ts';

/** How many calls an endpoint's plan allows: this many a second, and those of one second at once. */
export type Budget = {
  /** Most calls that may leave together. */
  readonly burst: number;
  /** Milliseconds until this many calls, at most `burst`, may leave. */
  waitMs(calls: number): number;
  /**
   * Waits until this many calls may leave, in the order of asking.
   * @throws RpcError `no_budget` at once when that would take longer than a read should wait; `unreachable` when closed.
   */
  take(calls: number): Promise<void>;
  close(): void;
};

/**
 * A token bucket, kept as the time at which everything taken so far is earned.
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
      // Booked before the wait, so that the next caller queues behind.
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

/** The pause after an endpoint has refused us. Being rate-limited does not make it a broken one. */
export type Cooldown = {
  /** Milliseconds until it may be asked again; 0 when it may be asked now. */
  leftMs(): number;
  /** Starts or changes the pause if this error calls for one. @returns whether it does. */
  startAfter(error: RpcError): boolean;
  /** The endpoint has answered. */
  reset(): void;
};

const FIRST_COOLDOWN_MS = 500;
/** Where the endpoint names no time, the longest pause between two attempts. */
const MAX_GUESSED_COOLDOWN_MS = 30_000;
/** The longest time that an endpoint may name. */
const MAX_REQUESTED_COOLDOWN_MS = 300_000;

/** @param now monotonic milliseconds. @param random from 0 to 1. */
export function createCooldown({
  now = () => performance.now(),
  random = Math.random,
}: { now?: () => number; random?: () => number } = {}): Cooldown {
  let until = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  const leftMs = () => Math.max(0, until - now());
  return {
    leftMs,
    startAfter({ kind, retryAfterMs }) {
      if (retryAfterMs !== null) {
        until = now() + Math.min(retryAfterMs, MAX_REQUESTED_COOLDOWN_MS);
        return true;
      }
      // Several refusals of requests that were in flight together count once.
      if (kind !== 'rate_limit' || leftMs() > 0) return false;
      const stepMs = Math.min(MAX_GUESSED_COOLDOWN_MS, FIRST_COOLDOWN_MS * 2 ** Math.min(refusals, 20));
      refusals += 1;
      until = now() + stepMs / 2 + (stepMs / 2) * random();
      return true;
    },
    reset() {
      if (leftMs() === 0) refusals = 0;
    },
  };
}
