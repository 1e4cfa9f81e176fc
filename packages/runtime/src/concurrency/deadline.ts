/** Work did not finish within its time limit. */
export class DeadlineExceeded extends Error {
  constructor(timeoutMs: number, what: string) {
    super(`${what} took longer than ${timeoutMs} ms`);
    this.name = 'DeadlineExceeded';
  }
}

/**
 * The result of `work`, if it arrives in time. A timeout does not stop the work; the caller has to end it.
 * @param what names the work in the error.
 * @throws DeadlineExceeded once the time has passed.
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

/** A timer that fires this much late shows that the process was not running. */
const LATE_MS = 50;
/** Enough to read what arrived meanwhile. */
const READING_MS = 100;

/**
 * Calls back after this time, and after what has arrived by then was read: timers fire before sockets are read, and the outcome may lie
 * there unread. After a freeze there is more to read, so a timer that fires late waits a little longer. Else a change that was made
 * would be reported as one that was not.
 * @returns what cancels it.
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
