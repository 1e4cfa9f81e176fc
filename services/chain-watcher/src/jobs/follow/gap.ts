/** The longest time between the start of a complete look and the storing of the next block for which that block counts as live. */
const MAX_GAP_MS = 15_000;

/**
 * Remembers the last complete look, one that read everything up to the head. A block above that head appeared after the look. If it is
 * stored soon, the time of this first reading is close to the time at which its transfers were made.
 * @param now monotonic milliseconds.
 */
export function createGap(now: () => number = () => performance.now()) {
  let last: { startedAt: number; head: number } | null = null;
  return {
    /** A look that began then was complete. */
    looked(startedAt: number, head: number): void {
      last = { startedAt, head };
    },
    /** Whether the network was read without a gap up to this block. Call it when the block is stored. */
    isLive: (blockNumber: number): boolean =>
      last !== null && last.head < blockNumber && now() - last.startedAt <= MAX_GAP_MS,
  };
}
