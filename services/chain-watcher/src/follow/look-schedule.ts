import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Expectation } from '@quittance/chain-reader/chain/read-ahead.ts';
import type { ChainView } from '../leadership/term.ts';
import { createBlockClock } from './block-clock.ts';

export type Pace = ReturnType<typeof createPace>;

/** After this many of the longest pauses without a look at the head, there may be any number of blocks. */
const OUT_OF_TOUCH_AFTER = 3;

/**
 * When to poll a network: by the schedule while a payment waits on it, and rarely while none does ("asleep").
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
    /** Whether a payment waits. If so, a network that was asleep is polled now. */
    setAwake(next: boolean): void {
      if (next && !isAwake) schedule.resume();
      // Blocks that are due are still read.
      if (!next && isAwake) asleepUntil = now() + schedule.dueInMs();
      isAwake = next;
    },
    /** Milliseconds until the next look; 0 when it is due. */
    dueInMs: () => (isAwake ? schedule.dueInMs() : Math.max(0, asleepUntil - now())),
    /** Whether the time of the next block is known. */
    isSteady: () => !isAwake || schedule.isSteady(),
    expects(): Expectation {
      if (now() - lastAtHeadAt > OUT_OF_TOUCH_AFTER * asleepMs) return 'perhaps none';
      return isAwake ? schedule.expects() : 'several';
    },
    /** An endpoint has announced a block. @param hash the block's hash, if the announcement names it. */
    announced(hash: string | null): void {
      if (isAwake) schedule.announced(hash);
    },
    /** See createLookSchedule(). */
    looked(startedAt: number, isAtHead: boolean): void {
      if (isAtHead) lastAtHeadAt = startedAt;
      if (isAwake) schedule.looked(startedAt, isAtHead);
      else asleepUntil = isAtHead ? now() + asleepMs : now();
    },
  };
}

export type LookSchedule = ReturnType<typeof createLookSchedule>;

/** When blocks come faster than looks, an announcement brings the next look forward to this time after the last one. */
const ANNOUNCED_LOOK_MS = 2_500;
/** The pause after a look that found nothing, as a share of the interval. @param looks how many in a row found nothing. */
const againAfter = (looks: number): number => Math.min(1, 0.15 * 3 ** Math.max(0, looks - 1));

/**
 * When to look for new blocks. If blocks come at regular times, the next look is when the next block is due: the schedule learns how long
 * after its timestamp a block appears. Any other chain is polled every `intervalMs`, and so is a regular one whose block is late, so no
 * block is found later than with a fixed interval. While an endpoint announces its blocks, a look needs an announcement, until the
 * endpoint has been silent for longer than a block takes.
 * @param chain the blocks scanned so far.
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
  /** While catching up, blocks are found long after they appeared, so nothing is learnt from them. */
  let isCatchingUp = true;
  /** The looks since the last block was found. */
  let empty = { looks: 0, at: Number.NEGATIVE_INFINITY };

  /** When the next look is due, after one that has read everything. */
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
    /** Whether the time of the next block is known. */
    isSteady: () => clock.isFast() || clock.dueAt(lastLookAt) !== null,
    /** What the next look will probably find. */
    expects(): Expectation {
      if (clock.isFast()) return 'several';
      const isDue = announcements.isAwaited() || clock.dueAt(lastLookAt) !== null;
      return isDue && empty.looks <= 1 ? 'one' : 'perhaps none';
    },
    /** After looks that did not follow this schedule: the next one is due now. */
    resume(): void {
      clock.moved();
      [tip, isCatchingUp, next] = [chain.tip(), true, now()];
    },
    /** An endpoint has announced a block. @param hash the block's hash, if the announcement names it. */
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
     * A look has ended.
     * @param startedAt when it started.
     * @param isAtHead whether it has read everything; otherwise the next look is due immediately.
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

/** After this many block times without an announcement, the endpoint no longer counts as announcing. */
const SILENT_AFTER_BLOCKS = 1.5;
/** How many looks an announced block that does not appear gets. */
const MAX_LOOKS = 3;

/** Which block the endpoints have announced, and whether it was found. Times are monotonic milliseconds. */
function createAnnouncements() {
  let lastAt = Number.NEGATIVE_INFINITY;
  /** The block that was announced and not found yet. `hash` is null when the announcement names none. */
  let awaited: { hash: string | null } | null = null;
  return {
    isAwaited: () => awaited !== null,
    announced(hash: string | null, at: number): void {
      lastAt = at;
      awaited = { hash };
    },
    /** Until when to wait for the next announcement, on a chain with this block time. */
    awaitedUntil: (blockMs: number): number => lastAt + SILENT_AFTER_BLOCKS * blockMs,
    /** This many looks have found nothing. */
    notFound(looks: number): void {
      if (looks >= MAX_LOOKS) awaited = null;
    },
    /** A look that started then has found this block. @returns when it was announced, or null. */
    found(hash: string, startedAt: number): number | null {
      // Another block may have been announced during the look.
      const wasAnnounced = awaited !== null && (lastAt <= startedAt || awaited.hash === hash);
      if (wasAnnounced) awaited = null;
      return wasAnnounced ? Math.min(lastAt, startedAt) : null;
    },
  };
}
