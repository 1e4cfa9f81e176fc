import { markRead } from '../leadership/cursor.sql.ts';
import type { Position, Term } from '../leadership/term.ts';

/** A network may be looked at several times a second. Not every look needs a write. */
const WRITTEN_EVERY_MS = 10_000;

/** Records complete looks, which read everything up to the head: in memory for first readings, and in the database for ReadTips. */
export function createLooks({ pool, network, epoch }: Term, { chain, heights }: Position) {
  const gap = createGap();
  /** Monotonic milliseconds. */
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    /** See createGap(). */
    isLive: gap.isLive,
    /** A look that began then read everything that the node showed. */
    async ended(startedAt: number): Promise<void> {
      const tip = chain.tip().number;
      // A lagging node shows an old head of our own chain. The look was not complete.
      if (tip !== heights().head) return;
      gap.looked(startedAt, tip);
      if (performance.now() - writtenAt < WRITTEN_EVERY_MS) return;
      await markRead(pool, network.id, epoch);
      writtenAt = performance.now();
    },
  };
}

export type Looks = ReturnType<typeof createLooks>;

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
