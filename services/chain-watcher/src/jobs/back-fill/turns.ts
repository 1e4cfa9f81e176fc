import { backoffMs } from '@quittance/runtime/concurrency/backoff.ts';

/** Where no endpoint keeps the blocks, asking for them takes a score of calls each time. */
const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };

/**
 * Whether the back-fill that is farthest back is next, or the one that is least: neither blocks that no node serves nor millions of old
 * ones may keep others from being read.
 * @param now monotonic milliseconds.
 */
export function createTurns(now: () => number = () => performance.now()) {
  const [oldest, newest] = [createSide(), createSide()];
  let current = newest;
  const isDue = ({ notBefore }: Side): boolean => now() >= notBefore;
  return {
    /** @returns whether the newest one is next; null while both pause. */
    next(): { newestFirst: boolean } | null {
      const other = current === oldest ? newest : oldest;
      if (isDue(other)) current = other;
      return isDue(current) ? { newestFirst: current === newest } : null;
    },
    /** What was next has been read. */
    done(): void {
      current.failures = 0;
    },
    /** No endpoint has its blocks: it pauses, longer each time. */
    missing(): void {
      current.notBefore = now() + backoffMs(current.failures, BACKOFF);
      current.failures += 1;
    },
    /** There is a new one, which does not wait for another's pause. */
    added(): void {
      Object.assign(newest, createSide());
    },
  };
}

type Side = ReturnType<typeof createSide>;
const createSide = () => ({ failures: 0, notBefore: Number.NEGATIVE_INFINITY });
