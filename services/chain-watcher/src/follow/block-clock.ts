import type { ChainView } from '../leadership/term.ts';

/** Timestamps can be wrong. No block is due later than this many block times after the last look. */
const MAX_WAIT_BLOCKS = 1.5;

/**
 * Predicts when a chain's next block will appear, from the intervals between its newest blocks and from how long after its timestamp each
 * of them was found. Times are monotonic milliseconds.
 * @param intervalMs the longest pause between looks for a block that is due.
 */
export function createBlockClock(chain: Pick<ChainView, 'tip' | 'atOrBelow'>, intervalMs: number) {
  const lateness = createLateness(intervalMs);
  let times = readBlockTimes(chain);
  return {
    /** Average time between two blocks; null while too few are known. */
    meanMs: () => times.meanMs,
    /** Whether blocks come faster than looks. */
    isFast: () => times.meanMs !== null && times.meanMs < intervalMs,
    /** When the block after the tip is due; null when that is not known. */
    dueAt(lastLookAt: number): number | null {
      const { regularMs } = times;
      const latenessMs = lateness.trusted();
      if (regularMs === null || regularMs <= intervalMs || latenessMs === null) return null;
      const at = 1000 * chain.tip().timestamp + regularMs + latenessMs;
      return Math.min(at, lastLookAt + MAX_WAIT_BLOCKS * regularMs);
    },
    /** The chain has a new tip. */
    moved: () => void (times = readBlockTimes(chain)),
    /** Learns from the look that found the tip, or from its announcement. `empty`: the looks before it, which found nothing. */
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
  /** Average time between two blocks, in milliseconds; null while too few are known. */
  meanMs: number | null;
  /** The time between nearly all of them, if that is the same. A missed slot now and then doubles one. */
  regularMs: number | null;
};

const RECENT_BLOCKS = 32;
const MIN_BLOCKS = 8;
/** Share of the intervals that must equal the smallest one. */
const REGULAR_SHARE = 0.75;

const UNKNOWN: BlockTimes = { meanMs: null, regularMs: null };

function readBlockTimes(chain: Pick<ChainView, 'tip' | 'atOrBelow'>): BlockTimes {
  const tip = chain.tip();
  const intervals: number[] = [];
  let block = tip;
  while (intervals.length < RECENT_BLOCKS) {
    const below = chain.atOrBelow(block.number - 1);
    if (below === undefined) break;
    // When several blocks were read at once, only the last one is known.
    intervals.push((1000 * (block.timestamp - below.timestamp)) / (block.number - below.number));
    block = below;
  }
  // On a test chain that is advanced manually, many blocks may have the same timestamp.
  if (intervals.length < MIN_BLOCKS || block.timestamp === tip.timestamp) return UNKNOWN;
  const meanMs = (1000 * (tip.timestamp - block.timestamp)) / (tip.number - block.number);
  const least = Math.min(...intervals);
  const isRegular = least > 0 && intervals.filter((each) => each === least).length >= REGULAR_SHARE * intervals.length;
  return { meanMs, regularMs: isRegular ? least : null };
}

/** Blocks in a row that must come as expected before the prediction is used. */
const TRUSTED_AFTER_BLOCKS = 1;
/** After this many blocks in a row that come earlier, or later, than expected, the chain or its endpoint has changed. */
const MANY_IN_A_ROW = 8;

/** As shares of the interval between regular looks. */
const STEP = {
  /** A block that is found by the first look moves the next first look this much earlier, */
  earlier: 0.01,
  /** and one that is found by the second look moves it this much later. So five of six blocks are found by the first look. */
  later: 0.05,
  /** While blocks are announced: a quarter of them come before the learnt time. */
  announcedEarlier: 0.03,
  announcedLater: 0.01,
};

/** What the look that found a block says about how late the block was. In milliseconds. */
type Found = {
  late: number;
  /** Its lateness at the time of the previous look, which did not find it. */
  atLeast: number;
  /** The looks before that found nothing. */
  emptyLooks: number;
  wasAnnounced: boolean;
  /** How far it may be from the expected time. */
  toleranceMs: number;
};

const NONE_IN_A_ROW = { early: 0, stray: 0, least: Number.POSITIVE_INFINITY };

/** Learns how long after its timestamp a block appears, by our monotonic clock. There is a look at least every `intervalMs`. */
function createLateness(intervalMs: number) {
  let latenessMs: number | null = null;
  let asExpected = 0;
  /** Blocks in a row that the first look found (`early`), and that not even the second found (`stray`), with the least lateness of these. */
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
    /** Milliseconds; null until it can be relied on. */
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
