import { CallerGone, COMMIT_WAIT_MS, currentCaller, type Caller } from '@quittance/runtime/concurrency/caller.ts';
import { DeadlineExceeded, startTimeout } from '@quittance/runtime/concurrency/deadline.ts';

/**
 * The wait for one answer: at most `timeoutMs`, and no longer than the caller of the current request waits itself. The service is told that
 * time, after which it commits nothing. The answer to what it has committed may still be on its way then, so one to a call that changes
 * something is waited for a little longer: what is stored must not be told as a failure.
 * @throws CallerGone when that one has hung up, or has no time left.
 */
export function startWaiting(timeoutMs: number, { mayCommit }: { mayCommit: boolean }) {
  const caller = currentCaller();
  const waitMs = Math.floor(Math.min(timeoutMs, caller?.remainingMs() ?? Infinity));
  if (caller !== null && (caller.hungUp.aborted || waitMs < 1)) throw new CallerGone(caller);
  let endsAt = performance.now() + waitMs;
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  const giveUp = (): void => {
    // A service that was given little time is not to blame for having needed more.
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
