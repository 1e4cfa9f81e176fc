import type { ChainView } from '../../term/position.ts';

/** What the timestamps of a chain's newest blocks say about when the next one comes. */
export type BlockTimes = {
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

export function readBlockTimes(chain: Pick<ChainView, 'tip' | 'atOrBelow'>): BlockTimes {
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
