import { AsyncLocalStorage } from 'node:async_hooks';

/** The client that waits for the current work, and how long it waits. */
export type Caller = {
  /** Milliseconds until the caller stops waiting, negative afterwards. */
  remainingMs(): number;
  /** Milliseconds in which a change may still be committed; negative afterwards. */
  commitWithinMs(): number;
  /** Aborted once the caller has closed its connection. */
  hungUp: AbortSignal;
  /** Called when a commit may have begun. From then on the outcome is awaited, even past the caller's timeout. */
  announceCommit(): void;
  /** Whether a commit was announced. */
  awaitsCommit(): boolean;
};

/** Share of the caller's time in which a commit may start. The rest is for the commit itself and for the response. */
const COMMIT_SHARE = 0.8;
/** The rest is at least this long, unless this is more than half of the caller's time. */
const RESERVE_MS = 300;
/**
 * How long to wait for the outcome of a commit that may have begun. Until it is known, nobody may be told that nothing
 * was stored.
 */
export const COMMIT_WAIT_MS = 2_000;

/**
 * Time counts from this call, by the monotonic clock, which continues while the process is frozen.
 * @param timeoutMs how long the caller waits; Infinity if it doesn't say.
 * @returns the caller, and `restart`, for a caller whose time starts later or who waits for a different time.
 */
export function createCaller(
  initialTimeoutMs: number,
  hungUp: AbortSignal,
): Caller & { restart(timeoutMs?: number): void } {
  let timeoutMs = initialTimeoutMs;
  let startedAt = performance.now();
  let announcedAt = -Infinity;
  const elapsedMs = () => performance.now() - startedAt;
  return {
    remainingMs: () => Math.max(timeoutMs - elapsedMs(), announcedAt + COMMIT_WAIT_MS - performance.now()),
    commitWithinMs: () =>
      Math.min(timeoutMs * COMMIT_SHARE, Math.max(timeoutMs - RESERVE_MS, timeoutMs / 2)) - elapsedMs(),
    hungUp,
    announceCommit() {
      if (announcedAt === -Infinity) announcedAt = performance.now();
    },
    awaitsCommit: () => announcedAt > -Infinity,
    restart(newTimeoutMs = timeoutMs) {
      timeoutMs = newTimeoutMs;
      startedAt = performance.now();
    },
  };
}

/**
 * Several callers that wait for shared work, as one caller. It counts as gone as soon as one of them is gone. Null when
 * none of them is known.
 */
export function jointCaller(callers: readonly (Caller | null)[]): Caller | null {
  const known = [...new Set(callers)].filter((caller) => caller !== null);
  if (known.length < 2) return known[0] ?? null;
  return {
    remainingMs: () => Math.min(...known.map((caller) => caller.remainingMs())),
    commitWithinMs: () => Math.min(...known.map((caller) => caller.commitWithinMs())),
    hungUp: AbortSignal.any(known.map(({ hungUp }) => hungUp)),
    announceCommit: () => known.forEach((caller) => caller.announceCommit()),
    awaitsCommit: () => known.some((caller) => caller.awaitsCommit()),
  };
}

const callers = new AsyncLocalStorage<Caller | null>();

/** Runs `fn` for this caller. Calls and transactions in it end when the caller stops waiting. Null for shared work. */
export function withCaller<T>(caller: Caller | null, fn: () => T): T {
  return callers.run(caller, fn);
}

/** The caller of the current request, from anywhere in its call tree; null in loops, message handlers and shared work. */
export function currentCaller(): Caller | null {
  return callers.getStore() ?? null;
}

/** The caller no longer waits, and assumes that nothing was changed. */
export class CallerGone extends Error {
  /**
   * PostgreSQL's code for a statement that was cancelled by a time limit. The error is therefore answered like an
   * unavailable database.
   */
  readonly code = '57014';
  constructor(caller: Caller) {
    super(
      caller.hungUp.aborted ? 'the caller has hung up' : 'the caller stops waiting before a change could be committed',
    );
    this.name = 'CallerGone';
  }
}

/** @throws CallerGone when the current request's caller would not receive the outcome of a commit. */
export function requireWaitingCaller(): void {
  const caller = currentCaller();
  if (caller !== null && (caller.hungUp.aborted || caller.commitWithinMs() <= 0)) throw new CallerGone(caller);
}
