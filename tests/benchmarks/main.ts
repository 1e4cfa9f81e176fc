import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { chooseByName, helpList, loadNamed } from '../support/named-files.ts';
import { CannotMeasure, type Benchmark, type BenchmarkContext, type BenchmarkResult } from './benchmark.ts';
import { startLoadGenerator } from './support/load.ts';
import { isMet, renderResult } from './support/report.ts';

/**
 * Ratios to baselines of the same run are what counts: a missed aim is printed and the exit code is 0, because no machine is quiet
 * enough for a verdict. 1 means that something broke, or that a benchmark could not be run here; the others are run all the same.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    part: { type: 'string' },
    payments: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const defaults = values.smoke
  ? { rounds: '1', seconds: '0.1', minutes: '0.05' }
  : { rounds: '7', seconds: '1.5', minutes: '3' };
const shared = new Map<string, Promise<unknown>>();
const closersOfShared = new Map<string, (() => Promise<void>)[]>();
const all = await loadNamed<Benchmark>(import.meta.dirname, '.bench.ts', 'benchmark');

if (values.help) console.log(usage());
else {
  const chosen = chooseByName(all, positionals, 'benchmark');
  // Figures of a smoke run say nothing, so nothing speaks against running them beside each other.
  const lanes = values.smoke ? [...Map.groupBy(chosen, ({ on }) => on).values()] : [chosen];
  await Promise.all(
    lanes.map(async (lane) => {
      for (const benchmark of lane) await carryOut(benchmark);
      // At once: a stack that nobody uses takes its part of the processor all the same.
      for (const close of closersOfShared.get(lane[0]!.on) ?? []) await close();
    }),
  );
}

/** Opens for one benchmark, or in a smoke run once for all of them. */
function openedFor(onEnd: BenchmarkContext['onEnd']): BenchmarkContext['opened'] {
  if (!values.smoke) return (_key, open) => open(onEnd);
  return <T>(key: string, open: (onEnd: BenchmarkContext['onEnd']) => Promise<T>) => {
    const closers = closersOfShared.get(key) ?? [];
    closersOfShared.set(key, closers);
    const opened = shared.get(key) ?? open((close) => void closers.unshift(close));
    shared.set(key, opened);
    return opened as Promise<T>;
  };
}

/** Prints and stores what there is to report, and sets the exit code when something broke. */
async function carryOut(benchmark: Benchmark): Promise<void> {
  const say = (line: string): void => console.log(values.smoke ? `${benchmark.name}:${line}` : line);
  say(`\n${benchmark.name}: ${benchmark.about}`);
  const startedAt = new Date();
  const loadBefore = loadavg();
  const failures: string[] = [];
  const result = await run(benchmark, say, failures).catch((error: unknown) => {
    if (error instanceof CannotMeasure) {
      say(`  ${error.message}`);
      if (!values.smoke) process.exitCode = 1;
    } else {
      failures.push(`${benchmark.name} as a whole`);
      say(`  ${benchmark.name} failed: ${textOf(error)}`);
    }
    return null;
  });
  if (failures.length > 0) process.exitCode = 1;
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  // Rendered all the same, because a table that cannot be drawn is broken too.
  const report = result === null ? null : renderResult(result);
  if (report === null || result === null || values.smoke) {
    say(`  ${benchmark.name} ${failures.length > 0 ? 'failed' : 'ended'} after ${seconds} s`);
    return;
  }
  say(report);
  if (failures.length > 0) say(`\nfailed  ${failures.join('; ')}`);
  const file = join(repositoryRoot, '.local', 'bench', `${benchmark.name}.json`);
  await writePrivateJson(file, {
    name: benchmark.name,
    started_at: startedAt.toISOString(),
    seconds,
    node: process.version,
    cpu: { model: cpus()[0]?.model ?? 'unknown', cores: cpus().length },
    load_average: { before: loadBefore, after: loadavg() },
    failures,
    ...result,
    aims: result.aims.map((aim) => ({ ...aim, met: isMet(aim) })),
  });
  say(`\nEvery measurement is in ${file} (${seconds} s)`);
}

async function run(benchmark: Benchmark, say: BenchmarkContext['say'], failures: string[]): Promise<BenchmarkResult> {
  const closers: (() => Promise<void>)[] = [];
  const attempt: BenchmarkContext['attempt'] = async (what, measure) => {
    try {
      return await measure();
    } catch (error) {
      failures.push(what);
      say(`  ${what} failed: ${textOf(error)}`);
      return undefined;
    }
  };
  const onEnd: BenchmarkContext['onEnd'] = (close) => void closers.unshift(close);
  try {
    const load = startLoadGenerator();
    closers.unshift(() => load.close());
    return await benchmark.run({
      ...{ load, say, attempt, part: partOf(benchmark), scale: values.smoke ? 'smoke' : 'full' },
      rounds: positive('rounds', values.rounds ?? defaults.rounds),
      runMs: positive('seconds', values.seconds ?? defaults.seconds) * 1000,
      minutes: positive('minutes', values.minutes ?? usualMinutes(benchmark)),
      payments: values.payments === undefined ? null : positive('payments', values.payments),
      ...{ onEnd, opened: openedFor(onEnd) },
    });
  } finally {
    for (const close of closers) await attempt('closing what was started', close);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function usualMinutes({ minutes }: Benchmark): string {
  return values.smoke || minutes === undefined ? defaults.minutes : String(minutes);
}

/** @throws Error for a part that this benchmark does not have. */
function partOf({ name, parts = [] }: Benchmark): string | null {
  const { part } = values;
  if (part === undefined) return null;
  if (!parts.includes(part)) throw new Error(`${name} has no part ${part}; it has: ${parts.join(', ') || 'none'}`);
  return part;
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name} must be a number above 0, not "${text}"`);
  return number;
}

function usage(): string {
  const abouts = all.map(({ name, about, parts }): [string, string] => [
    name,
    about + (parts === undefined ? '' : `. Parts: ${parts.join(', ')}.`),
  ]);
  return `Usage: npm run bench -- [name …] [options]

Runs the named benchmarks, or all of them, and prints how what we have compares with baselines of the same run.
Every measurement goes to .local/bench/<name>.json. Exit code 1 when something broke; a missed aim is a result.

Benchmarks:
${helpList(abouts)}

Options:
${helpList([
  ['--rounds <n>', 'rounds in which the contenders take turns (7)'],
  ['--seconds <n>', 'how long a contender runs in a round (1.5)'],
  ['--minutes <n>', 'how long each situation of a benchmark in real time lasts (3; endurance: 60)'],
  ['--part <part>', 'one part of a long benchmark'],
  ['--payments <n>', 'how many there are where growth is measured (1000000)'],
  ['--smoke', 'tiny amounts, one round, two benchmarks at once: shows that everything still works, measures nothing'],
  ['--help', 'this text'],
])}`;
}
