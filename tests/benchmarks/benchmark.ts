import type { LoadGenerator } from './support/load.ts';
import type { Spread } from './support/rounds.ts';

/** What a file `<name>.bench.ts` exports as `benchmark`. */
export type Benchmark = {
  name: string;
  /** What is compared with what, for people. */
  about: string;
  /** What it runs on. In a smoke run, benchmarks on the same thing share it and run one after another. */
  on: 'stack' | 'backends';
  /** Of a long one: what `--part` may name to have that alone. */
  parts?: readonly string[];
  /** Of one in real time: how long it lasts unless `--minutes` says otherwise; three minutes when not given. */
  minutes?: number;
  /** @throws CannotMeasure, or what broke it as a whole; missing an aim is a result. */
  run(context: BenchmarkContext): Promise<BenchmarkResult>;
};

export type BenchmarkContext = {
  load: LoadGenerator;
  /** `smoke` shows that everything still works, with amounts so small that its figures say nothing. */
  scale: 'full' | 'smoke';
  rounds: number;
  /** How long a contender runs in a round. */
  runMs: number;
  /** How long each situation of a benchmark in real time lasts. */
  minutes: number;
  /** How many payments there are where growth is measured; null for the benchmark's own number. */
  payments: number | null;
  /** The only part that is wanted; null for all. */
  part: string | null;
  say: (line: string) => void;
  /**
   * Runs one measurement of several. What it throws is printed and makes the exit code 1, and the others still run and are reported.
   * @returns undefined when it failed.
   */
  attempt: <T>(what: string, run: () => Promise<T>) => Promise<T | undefined>;
  /**
   * Opens something of its own; in a smoke run, the same for all benchmarks that ask for this key.
   * @param open gets what to call at the end of its use.
   */
  opened: <T>(key: Benchmark['on'], open: (onEnd: BenchmarkContext['onEnd']) => Promise<T>) => Promise<T>;
  /** Called after the benchmark, newest first, whether it succeeded or not. */
  onEnd: (close: () => Promise<void>) => void;
};

export type BenchmarkResult = {
  tables: Table[];
  /** Lines that say how to read the tables. */
  notes: readonly string[];
  aims: Aim[];
  /** Every measurement, for other calculations. */
  measurements: unknown;
};

/** Rows have as many cells as there are columns; the first column is text, the others are numbers. */
export type Table = { title: string; columns: string[]; rows: string[][] };

/** A ratio that should be reached, or not exceeded. A machine shared with others makes it a statement about this run, not a verdict. */
export type Aim = { what: string; measured: Spread } & Bound;

export type Bound = { atLeast: number } | { atMost: number };

/** This machine lacks what the benchmark needs. The message is a sentence that says how to get it. */
export class CannotMeasure extends Error {
  override readonly name = 'CannotMeasure';
}
