import type { ChainView } from '../../term/position.ts';
import { readBlockTimes } from './block-times.ts';
import { createLateness } from './lateness.ts';

/** Timestamps may say anything; no block is due later than so many block times after the last look. */
const MAX_WAIT_BLOCKS = 1.5;

/**
 * Foretells when a chain's next block is there: from the distance of its newest blocks, and from how long after their timestamps they were
 * found. Times are monotonic milliseconds.
 * @param intervalMs the longest pause between looks for a block that is due.
 */
export function createBlockClock(chain: Pick<ChainView, 'tip' | 'atOrBelow'>, intervalMs: number) {
  const lateness = createLateness(intervalMs);
  let times = readBlockTimes(chain);
  return {
    /** Average distance of two blocks; null while too few are known. */
    meanMs: () => times.meanMs,
    /** Whether blocks come faster than looks. */
    isFast: () => times.meanMs !== null && times.meanMs < intervalMs,
    /** When the block after the tip is due; null on a chain of which that is not known. */
    dueAt(lastLookAt: number): number | null {
      const { regularMs } = times;
      const latenessMs = lateness.trusted();
      if (regularMs === null || regularMs <= intervalMs || latenessMs === null) return null;
      const at = 1000 * chain.tip().timestamp + regularMs + latenessMs;
      return Math.min(at, lastLookAt + MAX_WAIT_BLOCKS * regularMs);
    },
    /** The chain has a new tip. */
    moved: () => void (times = readBlockTimes(chain)),
    /** Learns from a look that has found the tip, or from its announcement. `empty`: the looks before, which found nothing. */
    learn(lookedAt: number, announcedAt: number | null, empty: { looks: number; at: number }): void {
      const after = (time: number) => time - 1000 * chain.tip().timestamp;
      const late = after(announcedAt ?? lookedAt);
      const atLeast = announcedAt === null && empty.looks > 0 ? after(empty.at) : late;
      const toleranceMs = intervalMs + (times.regularMs ?? 0) / 4;
      lateness.learn({ late, atLeast, emptyLooks: empty.looks, wasAnnounced: announcedAt !== null, toleranceMs });
    },
  };
}
