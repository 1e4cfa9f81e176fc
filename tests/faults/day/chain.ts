import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { floorSecond } from '../../../services/payments/test/model/whose-money.ts';

/** Moments are milliseconds since 1970, by our clock except for `timestamp`. */
export type Block = {
  number: number;
  madeAt: number;
  /** The block's timestamp: whole seconds of the chain's clock. */
  timestamp: number;
  /** When chain-watcher reads it. */
  readAt: number;
};

export type Chain = {
  /** The first block made after this moment. */
  blockAfter(moment: number): Block;
  /** When chain-watcher reads the block that makes this one final. */
  finalAt(block: Block): number;
  /** The time of the newest final block that chain-watcher has read by now; null before the first. */
  finalThrough(now: number): number | null;
};

const BLOCK_MS = 3_000;
export const CONFIRMATIONS = 10;
/** The chain's clock is up to this much behind ours. */
const BEHIND_MS = 3_000;
/** chain-watcher reads a block at most this long after it was made, so every read is live. */
const READING_MS = 5_000;

export function newChain(chance: Chance, startsAt: number): Chain {
  const blocks: Block[] = [];
  const blockOf = (number: number): Block => {
    while (blocks.length <= number) {
      const before = blocks.at(-1);
      const madeAt = startsAt + blocks.length * BLOCK_MS;
      blocks.push({
        number: blocks.length,
        madeAt,
        timestamp: Math.max(before?.timestamp ?? 0, floorSecond(madeAt - chance.between(0, BEHIND_MS))),
        readAt: Math.max(before?.readAt ?? 0, madeAt + chance.between(0, READING_MS)),
      });
    }
    return blocks[number]!;
  };
  return {
    blockAfter: (moment) => blockOf(Math.floor((moment - startsAt) / BLOCK_MS) + 1),
    finalAt: ({ number }) => blockOf(number + CONFIRMATIONS).readAt,
    finalThrough(now) {
      let newest = Math.floor((now - startsAt) / BLOCK_MS);
      // When a block is read, at most two later ones have been made.
      while (newest >= 0 && blockOf(newest).readAt > now) newest -= 1;
      return newest < CONFIRMATIONS ? null : blockOf(newest - CONFIRMATIONS).timestamp;
    },
  };
}
