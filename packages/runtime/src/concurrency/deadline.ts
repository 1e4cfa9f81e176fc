/** Work did not finish within its time limit. */
export class DeadlineExceeded extends Error {
  constructor(timeoutMs: number, what: string) {
    super(`${what} took longer than ${timeoutMs} ms`);
    this.name = 'DeadlineExceeded';
  }
}

/**
 * The result of `work`, if it arrives in time. A timeout doesn't stop the work; the caller must end it.
 * @param what names the work in the error.
 * @throws DeadlineExceeded after the time limit.
 */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, what = 'the operation'): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const cancel = startTimeout(timeoutMs, () => reject(new DeadlineExceeded(timeoutMs, what)));
  try {
    return await Promise.race([work, timeout]);
  } finally {
    cancel();
  }
}

/** A timer that fires this late shows that the process was not running. */
const LATE_MS = 50;
/** Enough time to read what arrived in the meantime. */
const READING_MS = 100;

/**
 * Calls back after this time, and after reading what has arrived by then. Timers fire before sockets are read, so the
 * outcome may already be there, unread. After a freeze there is more to read, so a timer that fires late waits a little
 * longer. Otherwise a change that was made could be reported as failed.
 * @returns a function that cancels the timeout.
 */
export function startTimeout(timeoutMs: number, onTimeout: () => void): () => void {
  const dueAt = performance.now() + timeoutMs;
  let reading: NodeJS.Immediate | undefined;
  let timer = setTimeout(() => {
    if (performance.now() - dueAt > LATE_MS) timer = setTimeout(onTimeout, READING_MS);
    else reading = setImmediate(onTimeout);
  }, timeoutMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(reading);
  };
}
