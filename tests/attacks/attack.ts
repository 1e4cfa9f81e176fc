import { inspect, isDeepStrictEqual } from 'node:util';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';

/** What a file `<topic>.attack.ts` exports as `attack`: things somebody will try, and what must come of each. */
export type Attack = {
  name: string;
  /** What is tried, for people. */
  about: string;
  /** Prepares what the checks need. @throws when that cannot be done; then the whole topic is open. */
  checks(target: Target): Promise<Check[]>;
};

/** One row of the report. Its name is what holds. */
export type Check = { name: string; run(trial: Trial): Promise<void> };

/** A running system, seen from outside. */
export type Target = {
  stack: StackFile;
  /** What it exported as traces so far; null where that is not known, as of a stack that somebody else started. */
  traces: (() => string[]) | null;
  /** Called at the end, newest first. */
  onEnd: (close: () => Promise<void>) => void;
};

/** What a check was seen to do. */
export type Trial = {
  /** One thing was tried; unless it held, the row is open. */
  holds(isHeld: boolean, otherwise: () => string): void;
  /** The same for two values that must not differ in anything. */
  same(what: string, got: unknown, wanted: unknown): void;
  /** Each of these is something that does not hold; none is one thing tried that does. */
  none(problems: readonly string[]): void;
  /** Says why it cannot be tried on this machine or this stack. The row then says neither. */
  skip(reason: string): void;
};

export type Tried = { tried: number; open: string[]; skipped: string | null };

/** Long answers and many of them help nobody. */
const OPEN_MAX = 20;

/** Carries out one check. One that tried nothing, or broke off, is open: it has shown nothing. */
export async function carryOut(check: Check): Promise<Tried> {
  const tried: Tried = { tried: 0, open: [], skipped: null };
  const holds: Trial['holds'] = (isHeld, otherwise) => {
    tried.tried += 1;
    if (!isHeld && tried.open.length < OPEN_MAX) tried.open.push(otherwise());
  };
  try {
    await check.run({
      holds,
      same: (what, got, wanted) =>
        holds(isDeepStrictEqual(got, wanted), () => `${what}: ${textOf(got)} instead of ${textOf(wanted)}`),
      none(problems) {
        if (problems.length === 0) holds(true, () => '');
        for (const problem of problems) holds(false, () => problem);
      },
      skip: (reason) => void (tried.skipped = reason),
    });
  } catch (error) {
    tried.open.push(`broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  if (tried.tried === 0 && tried.open.length === 0 && tried.skipped === null) tried.open.push('nothing was tried');
  return tried;
}

const textOf = (value: unknown): string => inspect(value, { depth: 4, breakLength: Infinity }).slice(0, 600);
