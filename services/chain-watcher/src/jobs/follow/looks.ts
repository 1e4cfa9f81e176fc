import { markRead } from '../../store/cursor.ts';
import type { Position } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';
import { createGap } from './gap.ts';

/** A quiet network is looked at several times a second, and each of these is a write. */
const WRITTEN_EVERY_MS = 10_000;

/** Keeps account of the looks that have read everything up to the head: for what comes next, and for whoever asks whether the network is read. */
export function createLooks({ pool, network, epoch }: Term, { chain, heights }: Position) {
  const gap = createGap();
  /** Monotonic milliseconds. */
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    /** See createGap(). */
    isLive: gap.isLive,
    /** A look that began then has read everything it was shown. */
    async ended(startedAt: number): Promise<void> {
      const tip = chain.tip().number;
      // A node that lags shows an old head of our own chain: that says nothing of what came after it.
      if (tip !== heights().head) return;
      gap.looked(startedAt, tip);
      if (performance.now() - writtenAt < WRITTEN_EVERY_MS) return;
      await markRead(pool, network.id, epoch);
      writtenAt = performance.now();
    },
  };
}

export type Looks = ReturnType<typeof createLooks>;
