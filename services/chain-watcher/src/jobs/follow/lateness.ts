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
export type Found = {
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
export function createLateness(intervalMs: number) {
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
