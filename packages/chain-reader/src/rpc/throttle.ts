import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@quittance/runtime/concurrency/backoff.ts';
import type { Urgency } from './daily-budget.ts';
import { RpcError } from './errors.ts';

export type Budget = ReturnType<typeof createBudget>;

/**
 * How many calls an endpoint's plan allows: this many a second, and the calls of one second at once. It is a token bucket, stored as the time
 * at which all calls taken so far are earned.
 * @param requestsPerSecond null for no limit.
 * @param now monotonic milliseconds.
 */
export function createBudget(
  requestsPerSecond: number | null,
  { maxWaitMs, now = () => performance.now() }: { maxWaitMs: number; now?: () => number },
) {
  const closing = new AbortController();
  const burst = requestsPerSecond === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(requestsPerSecond));
  const callMs = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond;
  let earnedAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds until this many calls, at most `burst`, may be sent. */
  const waitMs = (calls: number): number => {
    if (callMs === 0) return 0;
    return Math.max(0, Math.max(earnedAt, now()) + calls * callMs - burst * callMs - now());
  };

  return {
    /** Most calls that may be sent together. */
    burst,
    waitMs,
    /**
     * Waits until this many calls may be sent, in the order of the requests.
     * @throws RpcError `no_budget` immediately when that would take longer than `maxWaitMs`; `unreachable` when closed.
     */
    async take(calls: number): Promise<void> {
      if (callMs === 0) return;
      const pauseMs = waitMs(calls);
      if (pauseMs > maxWaitMs) throw new RpcError('no_budget', 'our budget for this endpoint is used up');
      // Taken before the wait, so that the next caller waits longer.
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

/** When the endpoint names no time. */
const COOLDOWN = { firstMs: 500, maxMs: 30_000 };
/** A longer time that an endpoint names is cut to this. */
const MAX_REQUESTED_COOLDOWN_MS = 300_000;

/**
 * The pause after an endpoint has refused us. An endpoint that limits our rate is not broken.
 * @param now monotonic milliseconds.
 * @param random from 0 to 1.
 */
export function createCooldown({
  now = () => performance.now(),
  random = Math.random,
}: { now?: () => number; random?: () => number } = {}) {
  let until = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  /** Milliseconds until the endpoint may be asked again; 0 when it may be asked now. */
  const leftMs = (): number => Math.max(0, until - now());
  return {
    leftMs,
    /** Starts or changes the pause if this error calls for one. @returns whether it does. */
    startAfter({ kind, retryAfterMs }: RpcError): boolean {
      if (retryAfterMs !== null) {
        until = now() + Math.min(retryAfterMs, MAX_REQUESTED_COOLDOWN_MS);
        return true;
      }
      // Several refusals of requests that were sent together count once.
      if (kind !== 'rate_limit' || leftMs() > 0) return false;
      until = now() + backoffMs(refusals, COOLDOWN, random);
      refusals += 1;
      return true;
    },
    /** The endpoint has answered. */
    reset(): void {
      if (leftMs() === 0) refusals = 0;
    },
  };
}

/** The longest pause between two pieces of work when a budget is used up. Work gets slower, but never stops. */
const LONGEST_PAUSE_MS: Record<Urgency, number> = { payments: 60_000, background: 600_000 };

/**
 * Spreads work over the day if a plan limits it.
 * @param waitMs milliseconds until the budget of the next endpoint allows such a read; 0 for now.
 * @param now monotonic milliseconds.
 */
export function createPacer(
  waitMs: (urgency: Urgency, than: number | undefined) => number,
  now: () => number = () => performance.now(),
) {
  /** When each kind of work last began. */
  const begunAt = new Map<string, number>();
  /**
   * Whether a piece of work may begin. If so, it counts as begun.
   * @param work its kind. Each kind has its own longest pause.
   * @param than an endpoint that is not asked for it.
   */
  return function mayBegin(work: string, urgency: Urgency, than?: number): boolean {
    const last = begunAt.get(work) ?? Number.NEGATIVE_INFINITY;
    if (now() - last < LONGEST_PAUSE_MS[urgency] && waitMs(urgency, than) > 0) return false;
    begunAt.set(work, now());
    return true;
  };
}
