import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Expectation } from '@quittance/chain-reader/chain/read-ahead.ts';
import type { ChainView } from '../leadership/term.ts';
import { createBlockClock } from './block-clock.ts';

export type Pace = ReturnType<typeof createPace>;

/** Without a look at the head for so many of the longest pauses, there may be any number of blocks. */
const OUT_OF_TOUCH_AFTER = 3;

/**
 * When to look at a network that sleeps while nobody waits on it: by the schedule, or in a while.
 * @param now monotonic milliseconds.
 */
export function createPace(
  schedule: LookSchedule,
  { asleep_poll_interval_ms: asleepMs }: Pick<ChainNetwork, 'asleep_poll_interval_ms'>,
  now: () => number = () => performance.now(),
) {
  let isAwake = true;
  let asleepUntil = Number.NEGATIVE_INFINITY;
  let lastAtHeadAt = Number.NEGATIVE_INFINITY;
  return {
    isAwake: () => isAwake,
    /** Whether somebody waits. If so, a network that slept is looked at now. */
    setAwake(next: boolean): void {
      if (next && !isAwake) schedule.resume();
      // Whatever was not read yet is read first.
      if (!next && isAwake) asleepUntil = now() + schedule.dueInMs();
      isAwake = next;
    },
    /** Milliseconds until the next look; 0 when it is due. */
    dueInMs: () => (isAwake ? schedule.dueInMs() : Math.max(0, asleepUntil - now())),
    /** Whether the chain's next blocks are foreseen. */
    isSteady: () => !isAwake || schedule.isSteady(),
    expects(): Expectation {
      if (now() - lastAtHeadAt > OUT_OF_TOUCH_AFTER * asleepMs) return 'perhaps none';
      return isAwake ? schedule.expects() : 'several';
    },
    /** An endpoint has announced a block. @param hash the block's, if the announcement names it. */
    announced(hash: string | null): void {
      if (isAwake) schedule.announced(hash);
    },
    /** As in createLookSchedule(). */
    looked(startedAt: number, isAtHead: boolean): void {
      if (isAtHead) lastAtHeadAt = startedAt;
      if (isAwake) schedule.looked(startedAt, isAtHead);
      else asleepUntil = isAtHead ? now() + asleepMs : now();
    },
  };
}

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

/** Without an announcement for so many block times, announcements count as broken off. */
const SILENT_AFTER_BLOCKS = 1.5;
/** Looks for a block that was announced and is not there. */
const MAX_LOOKS = 3;

/** What endpoints have announced, and whether it has been found. Times are monotonic milliseconds. */
function createAnnouncements() {
  let lastAt = Number.NEGATIVE_INFINITY;
  /** The block that was announced and not found yet; `hash` is null when the announcement names none. */
  let awaited: { hash: string | null } | null = null;
  return {
    isAwaited: () => awaited !== null,
    announced(hash: string | null, at: number): void {
      lastAt = at;
      awaited = { hash };
    },
    /** Until when the next announcement can be waited for, on a chain of this block time. */
    awaitedUntil: (blockMs: number): number => lastAt + SILENT_AFTER_BLOCKS * blockMs,
    /** So many looks have found nothing. */
    notFound(looks: number): void {
      if (looks >= MAX_LOOKS) awaited = null;
    },
    /** A look that began then has found this block. @returns when it was announced, or null. */
    found(hash: string, startedAt: number): number | null {
      // Another one may have been announced during the look.
      const wasAnnounced = awaited !== null && (lastAt <= startedAt || awaited.hash === hash);
      if (wasAnnounced) awaited = null;
      return wasAnnounced ? Math.min(lastAt, startedAt) : null;
    },
  };
}
