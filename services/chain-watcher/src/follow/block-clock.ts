import type { ChainView } from '../leadership/term.ts';

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

/** What the timestamps of a chain's newest blocks say about when the next one comes. */
type BlockTimes = {
  /** Average distance of two blocks, in milliseconds; null while too few are known. */
  meanMs: number | null;
  /** The distance of nearly all of them, where they have one: a missed slot doubles one now and then. */
  regularMs: number | null;
};

const RECENT_BLOCKS = 32;
const MIN_BLOCKS = 8;
/** Share of the distances that must be the smallest one. */
const REGULAR_SHARE = 0.75;

const UNKNOWN: BlockTimes = { meanMs: null, regularMs: null };

function readBlockTimes(chain: Pick<ChainView, 'tip' | 'atOrBelow'>): BlockTimes {
  const tip = chain.tip();
  const distances: number[] = [];
  let block = tip;
  while (distances.length < RECENT_BLOCKS) {
    const below = chain.atOrBelow(block.number - 1);
    if (below === undefined) break;
    // Where several were read at once, only the last one is known.
    distances.push((1000 * (block.timestamp - below.timestamp)) / (block.number - below.number));
    block = below;
  }
  // A chain that is wound on by hand may stamp any number of blocks with one time.
  if (distances.length < MIN_BLOCKS || block.timestamp === tip.timestamp) return UNKNOWN;
  const meanMs = (1000 * (tip.timestamp - block.timestamp)) / (tip.number - block.number);
  const least = Math.min(...distances);
  const isRegular = least > 0 && distances.filter((each) => each === least).length >= REGULAR_SHARE * distances.length;
  return { meanMs, regularMs: isRegular ? least : null };
}

/** Blocks in a row that must come as expected before the next one is relied upon. */
const TRUSTED_AFTER_BLOCKS = 1;
/** After so many blocks in a row that come earlier than expected, or later, the chain or its endpoint has changed. */
const MANY_IN_A_ROW = 8;

/** By the interval of regular looks. */
const STEP = {
  /** Each block that is there at the first look brings the next first look so much forward, */
  earlier: 0.01,
  /** and each that is there at the second puts it off so much, so that five of six are there at the first. */
  later: 0.05,
  /** While blocks are announced: a quarter of them comes before the time that is learnt. */
  announcedEarlier: 0.03,
  announcedLater: 0.01,
};

/** What a look that has found a block shows of the block's lateness, in milliseconds. */
type Found = {
  late: number;
  /** It was not there yet when the look before found nothing. */
  atLeast: number;
  /** Looks before that found nothing. */
  emptyLooks: number;
  wasAnnounced: boolean;
  /** How far from what was expected it may be. */
  toleranceMs: number;
};

const NONE_IN_A_ROW = { early: 0, stray: 0, least: Number.POSITIVE_INFINITY };

/** Learns how long after its timestamp a block is there, by our monotonic clock, from looks that are made every `intervalMs` at least. */
function createLateness(intervalMs: number) {
  let latenessMs: number | null = null;
  let asExpected = 0;
  /** Blocks in a row that were there at the first look, and that were not there at the second, with the least lateness of these. */
  let inARow = { ...NONE_IN_A_ROW, stray: MANY_IN_A_ROW };
  const isTrusted = () => asExpected >= TRUSTED_AFTER_BLOCKS;

  function corrected(before: number, { atLeast, emptyLooks }: Found): number {
    const { early, stray } = inARow;
    const least = Math.min(inARow.least, atLeast);
    inARow = NONE_IN_A_ROW;
    if (emptyLooks === 0) {
      inARow = { ...NONE_IN_A_ROW, early: early + 1 };
      return before - intervalMs * STEP.earlier * 2 ** Math.floor(early / MANY_IN_A_ROW);
    }
    if (early >= MANY_IN_A_ROW || stray >= MANY_IN_A_ROW) return least;
    if (emptyLooks === 1) return before + intervalMs * STEP.later;
    // It may be a single missed slot.
    inARow = { ...NONE_IN_A_ROW, stray: stray + 1, least };
    return before;
  }

  function beforeMost(before: number, late: number): number {
    inARow = NONE_IN_A_ROW;
    return before + intervalMs * (late < before ? -STEP.announcedEarlier : STEP.announcedLater);
  }

  return {
    /** Milliseconds; null as long as it cannot be relied upon. */
    trusted: (): number | null => (isTrusted() ? latenessMs : null),
    learn(found: Found): void {
      const { late, atLeast, wasAnnounced, toleranceMs } = found;
      const before = latenessMs;
      const wasTrusted = isTrusted();
      asExpected = before !== null && Math.abs(late - before) <= toleranceMs ? asExpected + 1 : 0;
      if (before === null || asExpected === 0) latenessMs = atLeast;
      else if (wasAnnounced) latenessMs = beforeMost(before, late);
      else latenessMs = wasTrusted ? corrected(before, found) : atLeast;
    },
  };
}
