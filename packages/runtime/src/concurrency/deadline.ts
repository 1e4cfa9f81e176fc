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
  const timer = setTimeout(() => reject(new DeadlineExceeded(timeoutMs, what)), timeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
