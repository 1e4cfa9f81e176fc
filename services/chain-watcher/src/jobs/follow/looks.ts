import { markRead } from '../../store/cursor.ts';
import type { Position } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';
import { createGap } from './gap.ts';

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
