import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { seededRandom, type Random } from '../conformance/support/hostile/random.ts';
import { keepInput, readCorpus } from './corpus.ts';
import { watchProcesses, type Watched } from './coverage.ts';
import { mutate } from './mutate.ts';
import type { Json, Running, Target, Verdict } from './target.ts';

/** Far more than anything that an input sets going takes; then the system is stuck. */
const PUT_MAX_MS = 90_000;
/** A process that has more than this holds on to something that it was sent. */
const RESIDENT_MAX_BYTES = 768 * 1024 * 1024;
const FINDINGS_MAX = 10;
/** What lies in the tree is read by people. */
const KEPT_MAX_CHARACTERS = 4_000;
const CHECK_EVERY = 200;

export type Report = {
  put: number;
  /** What reached something that no input before it did, the smallest first. */
  kept: Json[];
  /** How many inputs came to what. */
  outcomes: Record<string, number>;
  /** Each with the file of its input. */
  findings: string[];
  /** The largest process at its largest. */
  residentBytes: number;
};

/**
 * Puts inputs to a target until it is over: those that are kept first, then changed ones. One that has code of ours run that never
 * ran before, or comes to something new, is changed further.
 * @param options.isOver asked before each change, with the number of inputs so far.
 * @param options.seed decides the changes. What they reach depends on the system as well, and so do the changes after that.
 */
export async function explore(
  target: Target,
  options: { isOver: (put: number) => boolean; seed: number; say: (line: string) => void },
): Promise<Report> {
  const { isOver, seed, say } = options;
  const session = await openSession(target, say);
  const inputs = [...target.starts, ...(await readCorpus(target.name))];
  const found: Json[] = [];
  try {
    for (const input of inputs) await session.put(input);
    for (let n = 0; !isOver(session.report.put) && session.report.findings.length < FINDINGS_MAX; n += 1) {
      const random = seededRandom(seed + n);
      const input = mutate(random, parentOf(random, inputs), inputs);
      if (!target.accepts(input)) continue;
      if (!(await session.put(input))) continue;
      inputs.push(input);
      found.push(input);
    }
    await session.check();
    return { ...session.report, kept: found.sort((a, b) => sizeOf(a) - sizeOf(b)) };
  } finally {
    await session.close();
  }
}

/** Of these inputs those without which something would not be reached any more, on a system that has just started; small ones first. */
export async function distil(target: Target, inputs: readonly Json[], say: (line: string) => void): Promise<Json[]> {
  const session = await openSession(target, say);
  try {
    for (const input of target.starts) await session.put(input);
    const needed: Json[] = [];
    const small = inputs.filter((input) => sizeOf(input) <= KEPT_MAX_CHARACTERS);
    for (const input of small.toSorted((a, b) => sizeOf(a) - sizeOf(b)))
      if (await session.put(input)) needed.push(input);
    return needed;
  } finally {
    await session.close();
  }
}

const sizeOf = (input: Json): number => JSON.stringify(input).length;

/** What was found last is the way to what was not found yet. */
const parentOf = (random: Random, inputs: readonly Json[]): Json =>
  random.pick(random.chance(0.5) ? inputs.slice(-30) : inputs);

async function openSession(target: Target, say: (line: string) => void) {
  const report: Omit<Report, 'kept'> = { put: 0, outcomes: {}, findings: [], residentBytes: 0 };
  const folder = join(repositoryRoot, '.local', 'fuzz', target.name);
  const known = new Set<string>();
  let { watched, running } = await open(target);

  async function note(problem: string, input: Json): Promise<void> {
    // The same again, with other ids and numbers.
    const kind = problem.replaceAll(/[0-9a-f]{6,}|\d+/g, '#').slice(0, 120);
    if (known.has(kind)) return;
    known.add(kind);
    const file = await keepInput(input, folder);
    const finding = `${problem}\n    npm run fuzz -- ${target.name} --input ${file}`;
    report.findings.push(finding);
    say(`  FOUND  ${finding}`);
  }

  async function restart(): Promise<void> {
    await close(watched, running);
    ({ watched, running } = await open(target));
  }

  return {
    report,
    /** @returns whether it reached something new. */
    async put(input: Json): Promise<boolean> {
      report.put += 1;
      const { problems, outcome } = await verdictOf(running, input);
      for (const problem of problems) await note(problem, input);
      const isNewOutcome = report.outcomes[outcome] === undefined;
      report.outcomes[outcome] = (report.outcomes[outcome] ?? 0) + 1;
      const dead = watched.dead();
      for (const pid of dead) await note(`process ${pid} has ended`, input);
      if (dead.length > 0 || outcome === BROKEN) {
        await restart();
        return false;
      }
      const resident = await watched.residentBytes();
      report.residentBytes = Math.max(report.residentBytes, resident);
      if (resident > RESIDENT_MAX_BYTES) {
        await note(`a process has grown to ${Math.round(resident / 1e6)} MB`, input);
        await restart();
      }
      if (report.put % CHECK_EVERY === 0) say(`  ${report.put} inputs`);
      return (await watched.fresh()) > 0 || isNewOutcome;
    },
    async check(): Promise<void> {
      for (const problem of await running.check()) await note(problem, null);
    },
    close: () => close(watched, running),
  };
}

async function open(target: Target): Promise<{ watched: Watched; running: Running }> {
  const watched = await watchProcesses();
  const running = await target.start(watched.environment);
  await watched.attach();
  await watched.fresh();
  return { watched, running };
}

async function close(watched: Watched, running: Running): Promise<void> {
  await running.close();
  await watched.close();
}

/** The outcome of an input after which the system is started again. */
const BROKEN = 'no answer';

/** What it came to; that it came to nothing, or never ended, is a problem. */
export async function verdictOf(running: Running, input: Json): Promise<Verdict> {
  const tooLate = new AbortController();
  const stuck = sleep(PUT_MAX_MS, null, { signal: tooLate.signal }).catch(() => null);
  try {
    const verdict = await Promise.race([running.put(input), stuck]);
    return verdict ?? { problems: [`nothing came of it within ${PUT_MAX_MS / 1000} s`], outcome: BROKEN };
  } catch (error) {
    return { problems: [`broke off: ${String(error)}`], outcome: BROKEN };
  } finally {
    tooLate.abort();
  }
}
