import fc from 'fast-check';
import { findViolations } from '../invariants.ts';
import type { Plan } from './plan.ts';
import { wanted } from './coverage.ts';
import { execute, introduce, readAll, repeatAll, TooManyOrders } from './execute.ts';
import { beginRun, endRun, type Run, setClock } from './run.ts';
import { plan } from './scenarios.ts';
import type { SharedDatabase } from './world.ts';

export type Campaign = {
  runs: number;
  seed: number;
  /** Repeats one run of an earlier campaign of this seed, as it was reported. */
  path?: string;
  /** Called after each run with the number of runs so far. */
  onRun?: (done: number) => void;
};

export type Outcome = {
  /** How often each was reached; those wanted but not reached have 0. */
  reached: Map<string, number>;
  missed: string[];
  runs: number;
  commands: number;
  /** 503 answers that only a slow machine explains. */
  undecided: number;
  /** Races with too many orders to try them all. */
  unjudged: number;
  deadlocks: bigint;
  /** The shortest run that fails, what went wrong in it, and how to repeat it. */
  failure: { message: string; path: string } | null;
};

/** Drives the service through random runs, and compares each with the model and its rows with the invariants. */
export async function runCampaign(world: SharedDatabase, { runs, seed, path, onRun }: Campaign): Promise<Outcome> {
  const reached = new Map(wanted.map((name) => [name, 0]));
  const totals = { done: 0, commands: 0, undecided: 0, unjudged: 0 };
  const property = fc.asyncProperty(plan, async (one) => {
    // Given a path, fast-check continues with every neighbour of the run that it names.
    if (path !== undefined && totals.done > 0) return;
    const run = await beginRun(world, one);
    try {
      if ((await drive(run, one)) === 'unjudged') totals.unjudged += 1;
      await check(run);
    } catch (error) {
      throw withStory(run, error);
    } finally {
      totals.commands += one.stories.flatMap(({ commands }) => commands).length;
      totals.undecided += run.undecided;
      for (const name of run.model.reached) reached.set(name, (reached.get(name) ?? 0) + 1);
      totals.done += 1;
      onRun?.(totals.done);
      await endRun(run);
    }
  });
  const details = await fc.check(property, { numRuns: runs, seed, ...(path !== undefined && { path }) });
  const { done, commands, undecided, unjudged } = totals;
  return {
    ...{ runs: done, commands, undecided, unjudged },
    reached,
    missed: wanted.filter((name) => reached.get(name) === 0),
    deadlocks: await world.deadlocks(),
    failure: details.failed ? failureOf(details) : null,
  };
}

function failureOf({ errorInstance, counterexample, counterexamplePath, numShrinks }: fc.RunDetails<[Plan]>) {
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const shortest = JSON.stringify(counterexample?.[0] ?? null);
  return {
    message: `${reason}\n\nThe plan, after ${numShrinks} times making it shorter:\n${shortest}`,
    path: counterexamplePath ?? '',
  };
}

const secondAfter = (moment: number): number => moment - (moment % 1000) + 1000;

async function drive(run: Run, one: Plan): Promise<'judged' | 'unjudged'> {
  try {
    await introduce(run, one);
    for (const { waitMs, commands } of one.stories) {
      for (const command of commands) {
        await setClock(run, one.wholeSeconds ? secondAfter(run.model.now) : run.model.now + waitMs);
        await execute(run, command);
      }
    }
    await repeatAll(run);
    await readAll(run);
    return 'judged';
  } catch (error) {
    if (error instanceof TooManyOrders) return 'unjudged';
    throw error;
  }
}

/** What must hold for the rows whatever the model says, and for every 201 that was answered. */
async function check({ world, merchants, answered, wasPaid }: Run): Promise<void> {
  const violations = await findViolations(world.db, { merchants, answered, wasPaid: [...wasPaid] });
  if (violations.length > 0) throw new Error(`invariants are broken:\n${violations.join('\n')}`);
}

/** A failed run with its whole story. */
function withStory(run: Run, error: unknown): Error {
  const reason = error instanceof Error ? error.stack : String(error);
  return new Error(`${reason}\n\nThe run until then:\n${run.trace.join('\n')}`, { cause: error });
}
