import { CallerGone, COMMIT_WAIT_MS, currentCaller, type Caller } from '@quittance/runtime/concurrency/caller.ts';
import { DeadlineExceeded, startTimeout } from '@quittance/runtime/concurrency/deadline.ts';

/**
 * The wait for one answer: at most `timeoutMs`, and no longer than the current request's caller waits. The service is
 * told this time and commits nothing after it. The answer to a commit may still be on its way then. For a call that
 * changes something, the wait is therefore a little longer, so that a stored change is not reported as a failure.
 * @throws CallerGone when the current request's caller has hung up or has no time left.
 */
export function startWaiting(timeoutMs: number, { mayCommit }: { mayCommit: boolean }) {
  const caller = currentCaller();
  const waitMs = Math.floor(Math.min(timeoutMs, caller?.remainingMs() ?? Infinity));
  if (caller !== null && (caller.hungUp.aborted || waitMs < 1)) throw new CallerGone(caller);
  let endsAt = performance.now() + waitMs;
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  const giveUp = (): void => {
    // A service that got little time is not at fault for needing more.
    const isTooShort = caller !== null && waitMs < timeoutMs / 2;
    abort(isTooShort ? new CallerGone(caller) : new DeadlineExceeded(waitMs, 'the call'));
  };
  const awaitOutcome = (): void => {
    caller?.announceCommit();
    endsAt = performance.now() + COMMIT_WAIT_MS;
    cancelTimeout = startTimeout(COMMIT_WAIT_MS, giveUp);
  };
  let cancelTimeout = startTimeout(waitMs, mayCommit ? awaitOutcome : giveUp);
  const hangUp = (): void => abort(new CallerGone(caller as Caller));
  caller?.hungUp.addEventListener('abort', hangUp);
  return {
    signal: controller.signal,
    abort,
    remainingMs: () => Math.max(1, Math.floor(endsAt - performance.now())),
    end() {
      cancelTimeout();
      caller?.hungUp.removeEventListener('abort', hangUp);
    },
  };
}
