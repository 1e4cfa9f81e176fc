import type { ChainView } from '../../term/position.ts';
import { readBlockTimes } from './block-times.ts';
import { createLateness } from './lateness.ts';

/** Without an announcement for so many block times, announcements count as broken off. */
const SILENT_AFTER_BLOCKS = 1.5;
/** Where blocks come faster than looks, an announcement brings a look forward to this, counted from the last one. */
const ANNOUNCED_LOOK_MS = 2_500;
/** Looks for a block that was announced and is not there. */
const MAX_LOOKS_FOR_ANNOUNCED = 3;
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
  const lateness = createLateness(intervalMs);
  let times = readBlockTimes(chain);
  let tip = chain.tip();
  let next = Number.NEGATIVE_INFINITY;
  let lastLookAt = Number.NEGATIVE_INFINITY;
  /** Looks since the last block, none of which has found one. */
  let empty = { looks: 0, at: Number.NEGATIVE_INFINITY };
  let announcedAt = Number.NEGATIVE_INFINITY;
  /** The block that was announced and not found yet; `hash` is null when the announcement names none. */
  let awaited: { hash: string | null } | null = null;

  const isFast = () => times.meanMs !== null && times.meanMs < intervalMs;
  /** When the block after the tip is due; null on a chain of which that is not known. */
  const dueAt = () => {
    const { regularMs } = times;
    const latenessMs = lateness.trusted();
    if (regularMs === null || regularMs <= intervalMs || latenessMs === null) return null;
    return Math.min(1000 * tip.timestamp + regularMs + latenessMs, lastLookAt + SILENT_AFTER_BLOCKS * regularMs);
  };

  /** Learns from the tip, which a look has just found, when the next block can be expected. */
  function learn(foundAt: number, wasAnnounced: boolean): void {
    const after = (time: number) => time - 1000 * chain.tip().timestamp;
    const atLeast = after(!wasAnnounced && empty.looks > 0 ? empty.at : foundAt);
    const toleranceMs = intervalMs + (times.regularMs ?? 0) / 4;
    lateness.learn({ late: after(foundAt), atLeast, emptyLooks: empty.looks, wasAnnounced, toleranceMs });
  }

  /** When the next look is due after one that has read everything there was. */
  function plan(): number {
    const againAt = now() + intervalMs * againAfter(empty.looks);
    if (awaited !== null) return againAt;
    const quietUntil = times.meanMs === null || isFast() ? 0 : announcedAt + SILENT_AFTER_BLOCKS * times.meanMs;
    if (quietUntil > now()) return quietUntil;
    return empty.looks > 0 && dueAt() !== null ? againAt : (dueAt() ?? now() + intervalMs);
  }

  return {
    /** Milliseconds until the next look; 0 when it is due. */
    dueInMs: () => Math.max(0, next - now()),
    /** Whether the chain's next blocks are foreseen. */
    isSteady: () => isFast() || dueAt() !== null,
    /** An endpoint has announced a block. @param hash the block's, if the announcement names it. */
    announced(hash: string | null): void {
      // Several endpoints announce the same block, one after the other.
      if (hash !== null && hash === chain.tip().hash) return;
      announcedAt = now();
      awaited = isFast() ? null : { hash };
      next = isFast() ? Math.min(next, lastLookAt + Math.min(intervalMs, ANNOUNCED_LOOK_MS)) : announcedAt;
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
        if (empty.looks >= MAX_LOOKS_FOR_ANNOUNCED) awaited = null;
      } else {
        // Another one may have been announced meanwhile.
        const wasAnnounced = awaited !== null && (announcedAt <= startedAt || awaited.hash === newest.hash);
        times = readBlockTimes(chain);
        if (isAtHead) learn(wasAnnounced ? Math.min(announcedAt, startedAt) : startedAt, wasAnnounced);
        if (wasAnnounced) awaited = null;
        tip = newest;
        empty = { looks: 0, at: Number.NEGATIVE_INFINITY };
      }
      next = isAtHead ? plan() : now();
    },
  };
}
