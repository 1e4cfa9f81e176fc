import { CallerGone, COMMIT_WAIT_MS, currentCaller, type Caller } from '@quittance/runtime/concurrency/caller.ts';
import { DeadlineExceeded, startTimeout } from '@quittance/runtime/concurrency/deadline.ts';

/**
 * The wait for one answer: at most `timeoutMs`, and no longer than the caller of the current request waits itself; longer only once a
 * commit is announced.
 * @throws CallerGone when that one has hung up, or has no time left.
 */
export function startWaiting(timeoutMs: number) {
  const caller = currentCaller();
  const waitMs = Math.floor(Math.min(timeoutMs, caller?.remainingMs() ?? Infinity));
  if (caller !== null && (caller.hungUp.aborted || waitMs < 1)) throw new CallerGone(caller);
  let endsAt = performance.now() + waitMs;
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  let cancelTimeout = startTimeout(waitMs, () => {
    // A service that was given little time is not to blame for having needed more.
    const isTooShort = caller !== null && waitMs < timeoutMs / 2;
    abort(isTooShort ? new CallerGone(caller) : new DeadlineExceeded(waitMs, 'the call'));
  });
  const hangUp = (): void => abort(new CallerGone(caller as Caller));
  caller?.hungUp.addEventListener('abort', hangUp);
  return {
    signal: controller.signal,
    abort,
    /** The service begins to commit what was asked. Its outcome is that of the request in which it was asked. */
    awaitCommit() {
      if (controller.signal.aborted) return;
      caller?.announceCommit();
      cancelTimeout();
      endsAt = performance.now() + COMMIT_WAIT_MS;
      cancelTimeout = startTimeout(COMMIT_WAIT_MS, () => abort(new DeadlineExceeded(COMMIT_WAIT_MS, 'the commit')));
    },
    remainingMs: () => Math.max(1, Math.floor(endsAt - performance.now())),
    end() {
      cancelTimeout();
      caller?.hungUp.removeEventListener('abort', hangUp);
    },
  };
}
