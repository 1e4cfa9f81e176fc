import type { LoadGenerator } from './support/load.ts';
import type { Spread } from './support/rounds.ts';

/** What a file `<name>.bench.ts` exports as `benchmark`: one question, and the parts that answer it. */
export type Benchmark = {
  name: string;
  about: string;
  parts: readonly Part[];
  /** Also a smoke run takes it only by name, because it disturbs what the parts of such a run share. */
  onlyByName?: boolean;
};

/** One measurement with its own set-up. `npm run bench -- <name>` takes its name as well as that of its benchmark. */
export type Part = {
  name: string;
  /** What is compared with what, for people. */
  about: string;
  /** What it runs on. In a smoke run, parts on the same thing share it and run one after another. */
  on: 'stack' | 'backends';
  /** What `--part` can name to run less than the whole. */
  parts?: readonly string[];
  /** How long a part in real time lasts without `--minutes`; three minutes if not given. */
  minutes?: number;
  /**
   * Makes it a part of the run without names, which takes less than half an hour. `payments`: how many there are in that run, where the
   * part's own number would take too long. `parts`: those of its parts that are in that run; all if not given.
   */
  short?: { payments?: number; parts?: readonly string[] };
  /** @throws CannotMeasure, or what broke it as a whole. A missed aim is a result. */
  run(context: BenchmarkContext): Promise<BenchmarkResult>;
};

export type BenchmarkContext = {
  load: LoadGenerator;
  /** `smoke` shows that everything still works, with amounts so small that its figures say nothing. */
  scale: 'full' | 'smoke';
  rounds: number;
  /** How long a contender runs in a round. */
  runMs: number;
  /** How long each situation of a part in real time lasts. */
  minutes: number;
  /** How many payments there are where they take long to make; null for the part's own number. */
  payments: number | null;
  /** Whether `--part` asks for one of these, or is not given. */
  wants: (...names: string[]) => boolean;
  say: (line: string) => void;
  /**
   * Runs one measurement of several. If it throws, the error is printed and the exit code is 1; the others still run.
   * @returns undefined when it failed.
   */
  attempt: <T>(what: string, run: () => Promise<T>) => Promise<T | undefined>;
  /**
   * Opens something for this part; in a smoke run, the same for all parts that ask for this key.
   * @param open gets a function that registers what to call at the end of its use.
   */
  opened: <T>(key: Part['on'], open: (onEnd: BenchmarkContext['onEnd']) => Promise<T>) => Promise<T>;
  /** Notes which version of a server was used. */
  ranOn: (server: string, version: string) => void;
  /** Called after the part, newest first, whether it succeeded or not. */
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

/**
 * A ratio to reach, or not to exceed. On a machine shared with others it is a statement about this run, not a verdict.
 * `brokenBaseline`: why the baseline did not do what it stands for, so that the ratio says nothing.
 */
export type Aim = { what: string; measured: Spread; brokenBaseline?: string } & Bound;

export type Bound = { atLeast: number } | { atMost: number };

/** This machine lacks what the benchmark needs. The message is a sentence that says how to get it. */
export class CannotMeasure extends Error {
  override readonly name = 'CannotMeasure';
}
