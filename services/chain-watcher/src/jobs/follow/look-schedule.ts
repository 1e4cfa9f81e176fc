import type { Expectation } from '@quittance/chain-reader/chain/expected.ts';
import type { ChainView } from '../../term/position.ts';
import { createAnnouncements } from './announcements.ts';
import { createBlockClock } from './block-clock.ts';

export type LookSchedule = ReturnType<typeof createLookSchedule>;

/** Where blocks come faster than looks, an announcement brings a look forward to this, counted from the last one. */
const ANNOUNCED_LOOK_MS = 2_500;
/** The pause after a look that has found nothing, as a share of the interval, up to all of it. @param looks how many have, one after the other. */
const againAfter = (looks: number): number => Math.min(1, 0.15 * 3 ** Math.max(0, looks - 1));

/**
 * When to look for new blocks. A chain whose blocks come at regular times is looked at when the next one is due: it is learnt how long
 * after its timestamp a block is there. Any other chain is looked at every `intervalMs`, and so is a regular one whose block is late:
 * no block is found later than by looking at that interval. While an endpoint announces its blocks nothing is looked for without an
 * announcement, until it has been silent for longer than a block takes.
 * @param chain what has been scanned.
 * @param now monotonic milliseconds.
 */
export function createLookSchedule(
  chain: Pick<ChainView, 'tip' | 'atOrBelow'>,
  intervalMs: number,
  now: () => number = () => performance.now(),
) {
  const clock = createBlockClock(chain, intervalMs);
  const announcements = createAnnouncements();
  let tip = chain.tip();
  let next = Number.NEGATIVE_INFINITY;
  let lastLookAt = Number.NEGATIVE_INFINITY;
  /** What is found was there before, so that nothing is learnt from it. */
  let isCatchingUp = true;
  /** Looks since the last block, none of which has found one. */
  let empty = { looks: 0, at: Number.NEGATIVE_INFINITY };

  /** When the next look is due after one that has read everything there was. */
  function plan(): number {
    const againAt = now() + intervalMs * againAfter(empty.looks);
    if (announcements.isAwaited()) return againAt;
    const meanMs = clock.meanMs();
    const announcedBy = meanMs === null || clock.isFast() ? 0 : announcements.awaitedUntil(meanMs);
    if (announcedBy > now()) return announcedBy;
    const dueAt = clock.dueAt(lastLookAt);
    return empty.looks > 0 && dueAt !== null ? againAt : (dueAt ?? now() + intervalMs);
  }

  return {
    /** Milliseconds until the next look; 0 when it is due. */
    dueInMs: () => Math.max(0, next - now()),
    /** Whether the chain's next blocks are foreseen. */
    isSteady: () => clock.isFast() || clock.dueAt(lastLookAt) !== null,
    /** What the look that is due will probably find. */
    expects(): Expectation {
      if (clock.isFast()) return 'several';
      const isDue = announcements.isAwaited() || clock.dueAt(lastLookAt) !== null;
      return isDue && empty.looks <= 1 ? 'one' : 'perhaps none';
    },
    /** Looks were made without this schedule: the next one is due now. */
    resume(): void {
      clock.moved();
      [tip, isCatchingUp, next] = [chain.tip(), true, now()];
    },
    /** An endpoint has announced a block. @param hash the block's, if the announcement names it. */
    announced(hash: string | null): void {
      // Several endpoints announce the same block, one after the other.
      if (hash !== null && hash === chain.tip().hash) return;
      if (clock.isFast()) {
        next = Math.min(next, lastLookAt + Math.min(intervalMs, ANNOUNCED_LOOK_MS));
        return;
      }
      announcements.announced(hash, now());
      next = now();
    },
    /**
     * A look is over.
     * @param startedAt when it began.
     * @param isAtHead whether it has read everything there was; otherwise the next one is due at once.
     */
    looked(startedAt: number, isAtHead: boolean): void {
      lastLookAt = startedAt;
      const newest = chain.tip();
      if (newest.hash === tip.hash) {
        empty = { looks: empty.looks + 1, at: startedAt };
        announcements.notFound(empty.looks);
      } else {
        clock.moved();
        const announcedAt = announcements.found(newest.hash, startedAt);
        if (isAtHead && !isCatchingUp) clock.learn(startedAt, announcedAt, empty);
        tip = newest;
        empty = { looks: 0, at: Number.NEGATIVE_INFINITY };
      }
      isCatchingUp = !isAtHead;
      next = isAtHead ? plan() : now();
    },
  };
}
