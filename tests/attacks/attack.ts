import { inspect, isDeepStrictEqual } from 'node:util';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';

/** What a file `<topic>.attack.ts` exports as `attack`: attempts, and their expected results. */
export type Attack = {
  name: string;
  /** What is tried, for people. */
  about: string;
  /** Prepares the checks. @throws when it fails; then the whole topic is open. */
  checks(target: Target): Promise<Check[]>;
};

/** One row of the report. Its name is the guarantee. */
export type Check = { name: string; run(trial: Trial): Promise<void> };

/** A running system, seen from outside. */
export type Target = {
  stack: StackFile;
  /** The traces exported so far; null where they are not known, as for a stack started elsewhere. */
  traces: (() => string[]) | null;
  /** Called at the end, newest first. */
  onEnd: (close: () => Promise<void>) => void;
};

/** Records what a check tried. */
export type Trial = {
  /** One attempt. The row is open unless it held. */
  holds(isHeld: boolean, otherwise: () => string): void;
  /** The same for two values that must be equal. */
  same(what: string, got: unknown, wanted: unknown): void;
  /** Each problem opens the row; an empty list is one attempt that held. */
  none(problems: readonly string[]): void;
  /** The reason why it cannot be tried on this machine or stack. The row is then neither held nor open. */
  skip(reason: string): void;
};

export type Tried = { tried: number; open: string[]; skipped: string | null };

/** More than these do not help a reader. */
const OPEN_MAX = 20;

/** Runs one check. A check that tried nothing, or failed with an error, is open, because it proves nothing. */
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
