/** Longest time from the beginning of one look to the end of the next for which nothing can have been overlooked between them. */
const MAX_GAP_MS = 15_000;

/**
 * Knows the last look that has read everything up to the head, and so whether a block came after it and was read soon. Only then is the
 * moment of the first reading of its transfers close to the moment at which they were made.
 * @param now monotonic milliseconds.
 */
export function createGap(now: () => number = () => performance.now()) {
  let last: { startedAt: number; head: number } | null = null;
  return {
    /** A look that began then has read everything up to this head. */
    looked(startedAt: number, head: number): void {
      last = { startedAt, head };
    },
    /** Ask when the block is stored. */
    isLive: (blockNumber: number): boolean =>
      last !== null && last.head < blockNumber && now() - last.startedAt <= MAX_GAP_MS,
  };
}
