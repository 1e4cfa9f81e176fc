import { AsyncLocalStorage } from 'node:async_hooks';

/** Who waits for the outcome of the current work, and for how long. */
export type Caller = {
  /** Milliseconds until the caller stops waiting, negative afterwards. */
  remainingMs(): number;
  /** Milliseconds within which a change may still be committed, negative afterwards. */
  commitWithinMs(): number;
  /** Aborted once the caller has closed its connection. */
  hungUp: AbortSignal;
  /** Called when a commit may have begun. From then on its outcome is waited for, even if that takes longer than was said. */
  announceCommit(): void;
  /** Whether a commit was announced. */
  awaitsCommit(): boolean;
};

/** The rest of the caller's time is for the commit itself and for the way back. */
const COMMIT_SHARE = 0.8;
/** At least so much of it, where that is no more than half. */
const RESERVE_MS = 300;
/** How long the outcome of a commit that may have begun is waited for: nobody may be told meanwhile that nothing was stored. */
export const COMMIT_WAIT_MS = 2_000;

/**
 * Time runs from this call, by the monotonic clock, which goes on while the process is frozen.
 * @param timeoutMs how long the caller waits; Infinity where it does not say.
 * @returns the caller, and `restart` for one whose time begins later, or who waits for another time than was thought.
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

/** Those who wait for shared work, as one caller: gone as soon as one of them is. Null when none of them is known. */
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

/** Runs `fn` for this caller: calls made and transactions committed in it end with the caller's wait. Null for work that several share. */
export function withCaller<T>(caller: Caller | null, fn: () => T): T {
  return callers.run(caller, fn);
}

/** The caller of the current request, from anywhere in its call tree; null in loops, message handlers and shared work. */
export function currentCaller(): Caller | null {
  return callers.getStore() ?? null;
}

/** Nobody waits for the outcome any more: whoever asked takes it that nothing was changed. */
export class CallerGone extends Error {
  /** PostgreSQL's code for a statement that a time limit ended, so that it is answered as an unavailable database is. */
  readonly code = '57014';
  constructor(caller: Caller) {
    super(
      caller.hungUp.aborted ? 'the caller has hung up' : 'the caller stops waiting before a change could be committed',
    );
    this.name = 'CallerGone';
  }
}

/** @throws CallerGone when the current request's caller would not learn of a commit. */
export function requireWaitingCaller(): void {
  const caller = currentCaller();
  if (caller !== null && (caller.hungUp.aborted || caller.commitWithinMs() <= 0)) throw new CallerGone(caller);
}
