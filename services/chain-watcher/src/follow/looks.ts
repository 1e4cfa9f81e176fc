import { markRead } from '../leadership/cursor.sql.ts';
import type { Position, Term } from '../leadership/term.ts';

/** There may be several looks a second, and not every one needs a write. */
const WRITTEN_EVERY_MS = 10_000;

/** Records complete looks, which read everything up to the head: in memory for first readings, in the database for ReadTips. */
export function createLooks({ pool, network, epoch }: Term, { chain, heights }: Position) {
  const gap = createGap();
  /** Monotonic milliseconds. */
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    /** See createGap(). */
    isLive: gap.isLive,
    /** A look that started then has read everything that the node showed. */
    async ended(startedAt: number): Promise<void> {
      const tip = chain.tip().number;
      // A lagging node shows an old head of our own chain: the look was not complete.
      if (tip !== heights().head) return;
      gap.looked(startedAt, tip);
      if (performance.now() - writtenAt < WRITTEN_EVERY_MS) return;
      await markRead(pool, network.id, epoch);
      writtenAt = performance.now();
    },
  };
}

export type Looks = ReturnType<typeof createLooks>;

/** A block counts as live if it is stored at most this long after the start of the last complete look. */
const MAX_GAP_MS = 15_000;

/**
 * Remembers the last complete look. A block above its head appeared after the look. If the block is stored soon, the time of this first
 * reading is close to the time when its transfers were made.
 * @param now monotonic milliseconds.
 */
export function createGap(now: () => number = () => performance.now()) {
  let last: { startedAt: number; head: number } | null = null;
  return {
    /** A look that started then was complete. */
    looked(startedAt: number, head: number): void {
      last = { startedAt, head };
    },
    /** Whether the network was read without a gap up to this block. Call it when the block is stored. */
    isLive: (blockNumber: number): boolean =>
      last !== null && last.head < blockNumber && now() - last.startedAt <= MAX_GAP_MS,
  };
}
