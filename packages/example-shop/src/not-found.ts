/** The requested object does not exist: answered with 404. */
export class NotFound extends Error {
  readonly status = 404;
}

/** @throws NotFound for null or undefined. */
export function known<T>(found: T | null | undefined): T {
  if (found === null || found === undefined) throw new NotFound();
  return found;
}
