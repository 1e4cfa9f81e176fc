/** How often new blocks are found, as our own polls show. Times are monotonic milliseconds. */
export type Cadence = {
  /** Average time between two blocks; null before the second one. */
  blockMs: number | null;
  /** When a poll last found new blocks; null before the first. */
  foundAt: number | null;
  /** Shares from 0 to 1, in which the latest polls count most: of all polls, those that found new blocks … */
  finds: number;
  /** … and the same of the polls at which a block was due. */
  dueFinds: number;
};

export const noCadence: Cadence = { blockMs: null, foundAt: null, finds: 0, dueFinds: 0 };

/** Weight of the latest poll. */
const WEIGHT = 0.2;
/** A block is due when this share of the average time has passed. */
const DUE_AFTER = 0.95;
/** From this share on, polls of this kind are counted on to find a block. */
const LIKELY = 0.6;

/** @returns how many new blocks a poll at this time will probably find; 0 when it may as well find none. */
export function expectedBlocks(cadence: Cadence, now: number): number {
  const { blockMs, finds, dueFinds } = cadence;
  const isLikely = finds >= LIKELY || (dueFinds >= LIKELY && isDue(cadence, now));
  return blockMs === null || !isLikely ? 0 : Math.max(1, Math.round(elapsed(cadence, now) / blockMs));
}

/** @param found new blocks found by a poll that started at this time and reached the head. */
export function afterPoll(cadence: Cadence, now: number, found: number): Cadence {
  const hit = found > 0 ? 1 : 0;
  const finds = mix(cadence.finds, hit);
  const dueFinds = isDue(cadence, now) ? mix(cadence.dueFinds, hit) : cadence.dueFinds;
  if (found === 0) return { ...cadence, finds, dueFinds };
  if (cadence.foundAt === null) return { blockMs: null, foundAt: now, finds, dueFinds };
  const blockMs = elapsed(cadence, now) / found;
  return { blockMs: cadence.blockMs === null ? blockMs : mix(cadence.blockMs, blockMs), foundAt: now, finds, dueFinds };
}

function isDue(cadence: Cadence, now: number): boolean {
  return cadence.blockMs !== null && elapsed(cadence, now) >= cadence.blockMs * DUE_AFTER;
}

const elapsed = ({ foundAt }: Cadence, now: number): number => now - (foundAt ?? now);
const mix = (average: number, latest: number): number => average + WEIGHT * (latest - average);
