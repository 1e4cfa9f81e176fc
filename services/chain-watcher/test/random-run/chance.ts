import { createHash } from 'node:crypto';

/** Random choices that a seed repeats exactly. */
export type Chance = {
  /** A whole number from 0 to `end`, excluding `end`. */
  below(end: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True in this share of cases, from 0 to 1. */
  happens(share: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** One of the values, each in proportion to its weight. */
  weighted<T>(values: readonly (readonly [weight: number, value: T])[]): T;
  /** Independent choices for a parallel activity, so that neither changes the other's. */
  apart(name: string): Chance;
};

export function chanceOf(seed: number | string): Chance {
  let state = createHash('sha256').update(String(seed)).digest().readUInt32LE();
  // Mulberry32: good enough for these choices, and the same on every machine.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    happens: (share) => next() < share,
    pick: (values) => values[below(values.length)]!,
    weighted: (values) => {
      let left = next() * values.reduce((sum, [weight]) => sum + weight, 0);
      return (values.find(([weight]) => (left -= weight) < 0) ?? values[0]!)[1];
    },
    apart: (name) => chanceOf(`${String(seed)} ${name}`),
  };
}
