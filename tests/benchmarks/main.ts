import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { chooseByName, helpList, loadNamed } from '../support/named-files.ts';
import { CannotMeasure, type Benchmark, type BenchmarkContext, type BenchmarkResult, type Part } from './benchmark.ts';
import { startLoadGenerator } from './support/load.ts';
import { isMet, renderResult } from './support/report.ts';

/**
 * Only ratios to baselines of the same run count. A missed aim is printed and the exit code stays 0, because no machine is quiet
 * enough for a verdict. Exit code 1 means that something broke, or that a part could not run here; the others still run.
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
  const chosen = choose();
  // Figures of a smoke run say nothing, so its lanes may run at the same time.
  const lanes = values.smoke ? [...Map.groupBy(chosen, ({ on }) => on).values()] : [chosen];
  await Promise.all(
    lanes.map(async (lane) => {
      for (const part of lane) await carryOut(part);
      // Immediately: an idle stack takes processor time from the other lane.
      for (const close of closersOfShared.get(lane[0]!.on) ?? []) await close();
    }),
  );
}

/** The parts of the named benchmarks, and parts named themselves. @throws Error for a `--part` that none of them has. */
function choose(): Part[] {
  const parts = all.flatMap((benchmark) => benchmark.parts);
  const own = parts.filter(({ name }) => !all.some((benchmark) => benchmark.name === name));
  const usual = all.filter(({ onlyByName = false }) => !onlyByName).map(({ name }) => name);
  const named = chooseByName([...all, ...own], positionals.length === 0 ? usual : positionals, 'benchmark');
  const chosen = new Set(named.flatMap((one) => ('on' in one ? [one] : one.parts)));
  const { part } = values;
  if (part === undefined) return [...chosen];
  const having = [...chosen].filter(({ name, parts: within = [] }) => name === part || within.includes(part));
  if (having.length > 0) return having;
  const known = [...chosen].flatMap(({ name, parts: within = [] }) => [name, ...within]);
  throw new Error(`there is no part ${part}; there are: ${known.join(', ')}`);
}

/** Opens for one part, or in a smoke run once for all of them. */
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

/** Prints and stores the report, and sets the exit code when something broke. */
async function carryOut(benchmark: Part): Promise<void> {
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
  // Also in a smoke run, because a table that cannot be drawn is broken too.
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

async function run(benchmark: Part, say: BenchmarkContext['say'], failures: string[]): Promise<BenchmarkResult> {
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
      ...{ load, say, attempt, wants: wantedOf(benchmark), scale: values.smoke ? 'smoke' : 'full' },
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

function usualMinutes({ minutes }: Part): string {
  return values.smoke || minutes === undefined ? defaults.minutes : String(minutes);
}

/** Everything, unless `--part` names something within the part. */
function wantedOf({ name }: Part): BenchmarkContext['wants'] {
  const { part } = values;
  return (...names) => part === undefined || part === name || names.includes(part);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name} must be a number above 0, not "${text}"`);
  return number;
}

function usage(): string {
  const within = ({ parts = [] }: Part): string => (parts.length === 0 ? '' : ` Parts of it: ${parts.join(', ')}.`);
  const parts = all.flatMap((benchmark) => benchmark.parts);
  return `Usage: npm run bench -- [name …] [options]

Runs the named benchmarks or parts, or all of them but chaos, and prints how the system compares with baselines of the same run.
Every measurement goes to .local/bench/<part>.json. Exit code 1 means that something broke; a missed aim is a result.

Benchmarks:
${helpList(all.map(({ name, about, parts }) => [name, `${about} Parts: ${parts.map((part) => part.name).join(', ')}.`]))}

Parts:
${helpList(parts.map((part) => [part.name, `${part.about}.${within(part)}`]))}

Options:
${helpList([
  ['--rounds <n>', 'rounds in which the contenders take turns (7)'],
  ['--seconds <n>', 'how long a contender runs in a round (1.5)'],
  ['--minutes <n>', 'how long each situation of a part in real time lasts (3; endurance: 60)'],
  ['--part <part>', 'one part of a benchmark, or one part of that'],
  ['--payments <n>', 'how many there are where growth is measured (1000000)'],
  ['--smoke', 'tiny amounts, one round, two parts at once: shows that everything still works, measures nothing'],
  ['--help', 'this text'],
])}`;
}
