/** Pseudo-random choices that a seed repeats exactly. */
export type Random = {
  /** A whole number from 0 to below `end`. */
  below: (end: number) => number;
  /** True in this share of the cases, 0 to 1. */
  chance: (share: number) => boolean;
  pick: <T>(values: readonly T[]) => T;
  /** One of the values, with a probability by weight. */
  weighted: <T>(values: readonly (readonly [weight: number, value: T])[]) => T;
  /** Text of `length` characters of the alphabet. */
  text: (length: number, alphabet?: string) => string;
};

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  // Mulberry32: 32 bits of state, enough for choosing test inputs.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  return {
    below,
    chance: (share) => next() < share,
    pick,
    weighted: (values) => {
      let left = next() * values.reduce((sum, [weight]) => sum + weight, 0);
      return (values.find(([weight]) => (left -= weight) < 0) ?? values[0]!)[1];
    },
    text: (length, alphabet = ALPHABET) => {
      const characters = Array.from(alphabet);
      return Array.from({ length }, () => pick(characters)).join('');
    },
  };
}
