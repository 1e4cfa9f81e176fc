/** Nobody knows what was asked for: answered with 404. */
export class NotFound extends Error {
  readonly status = 404;
}

/** @throws NotFound for what was looked for and is not there. */
export function known<T>(found: T | null | undefined): T {
  if (found === null || found === undefined) throw new NotFound();
  return found;
}
