/** The time given to some work was over before it was done. */
export class OutOfTime extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = 'OutOfTime';
  }
}

/**
 * What `work` gives, if it comes in time. The work itself goes on; whoever needs it stopped gives it a signal of its own.
 * @throws OutOfTime once the time is over.
 */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new OutOfTime(timeoutMs)), timeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
