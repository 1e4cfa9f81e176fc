/**
 * How long something has gone on, so that an incident is not raised for what ends by itself.
 * @param patienceMs how long it may go on.
 */
export function createPatience(patienceMs: number) {
  /** By what it is about, in monotonic milliseconds. */
  const since = new Map<string, number>();
  return {
    /** Call it each time it is found. @returns whether it has gone on for too long. */
    isOver(about: string): boolean {
      const now = performance.now();
      const began = since.get(about) ?? now;
      since.set(about, began);
      return now - began >= patienceMs;
    },
    /** It has ended. */
    ended: (about: string): void => void since.delete(about),
  };
}
