import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { chooseByName, helpList, loadNamed } from '../support/named-files.ts';
import { CannotMeasure, type Benchmark, type BenchmarkContext, type BenchmarkResult, type Part } from './benchmark.ts';
import { startLoadGenerator } from './support/load.ts';
import { renderResult, verdictOf } from './support/report.ts';
import { renderSummary, type PartOutcome } from './support/summary.ts';

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

/** Without names: the parts that can be short, so that every commonly asked question has an answer in half an hour. */
const isShort = positionals.length === 0 && values.part === undefined && !values.smoke;
const lengths = {
  smoke: { rounds: '1', seconds: '0.1', minutes: '0.05' },
  short: { rounds: '2', seconds: '1', minutes: '3' },
  full: { rounds: '7', seconds: '1.5', minutes: '3' },
};
const defaults = lengths[values.smoke ? 'smoke' : isShort ? 'short' : 'full'];
const folder = join(repositoryRoot, '.local', 'bench');
const versions = new Map([['Node', process.version]]);
const outcomes: PartOutcome[] = [];
const shared = new Map<string, Promise<unknown>>();
const closersOfShared = new Map<string, (() => Promise<void>)[]>();
const all = await loadNamed<Benchmark>(import.meta.dirname, '.bench.ts', 'benchmark');

if (values.help) console.log(usage());
else {
  const startedAt = new Date();
  const loadBefore = loadavg()[0] ?? 0;
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
  if (!values.smoke) await summarize(startedAt, loadBefore);
}

/** The parts of the named benchmarks, and parts named themselves. @throws Error for a `--part` that none of them has. */
function choose(): Part[] {
  const parts = all.flatMap((benchmark) => benchmark.parts);
  const own = parts.filter(({ name }) => !all.some((benchmark) => benchmark.name === name));
  const usual = all.filter(({ onlyByName = false }) => !onlyByName).map(({ name }) => name);
  const named = chooseByName([...all, ...own], positionals.length === 0 ? usual : positionals, 'benchmark');
  const chosen = new Set(
    named.flatMap((one) => ('on' in one ? [one] : one.parts)).filter(({ short }) => short !== undefined || !isShort),
  );
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
      if (!values.smoke) failures.push(error.message);
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
  outcomes.push({ name: benchmark.name, seconds, aims: result?.aims ?? [], failures });
  if (report === null || result === null || values.smoke) {
    say(`  ${benchmark.name} ${failures.length > 0 ? 'failed' : 'ended'} after ${seconds} s`);
    return;
  }
  say(report);
  if (failures.length > 0) say(`\nfailed  ${failures.join('; ')}`);
  const file = join(folder, `${benchmark.name}.json`);
  await writePrivateJson(file, {
    name: benchmark.name,
    started_at: startedAt.toISOString(),
    seconds,
    node: process.version,
    cpu: { model: cpus()[0]?.model ?? 'unknown', cores: cpus().length },
    load_average: { before: loadBefore, after: loadavg() },
    failures,
    ...result,
    aims: result.aims.map((aim) => ({ ...aim, verdict: verdictOf(aim) })),
  });
  say(`\nEvery measurement is in ${file} (${seconds} s)`);
}

/** Prints and stores what the whole run found. */
async function summarize(startedAt: Date, loadBefore: number): Promise<void> {
  const text = renderSummary({
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
    ...{ startedAt, seconds: Math.round((Date.now() - startedAt.getTime()) / 1000), parts: outcomes },
    machine: {
      ...{ model: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryBytes: totalmem() },
      load: { before: loadBefore, after: loadavg()[0] ?? 0 },
    },
    versions: { ...Object.fromEntries(versions), ...(await versionsOfPeers()) },
  });
  const file = join(folder, 'summary.md');
  await mkdir(folder, { recursive: true });
  await writeFile(file, `${text}\n`);
  console.log(`\n${text}\n\nThis summary is in ${file}`);
}

/** What we are compared with, as installed. */
async function versionsOfPeers(): Promise<Record<string, string>> {
  const peers = ['amqplib', 'bullmq', 'ethers', 'express', 'graphile-worker', 'pg-boss', 'undici'];
  const versionOf = async (name: string): Promise<[string, string]> => {
    const file = join(repositoryRoot, 'tests', 'node_modules', name, 'package.json');
    return [name, (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version];
  };
  return Object.fromEntries(await Promise.all(peers.map(versionOf)));
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
      payments: paymentsOf(benchmark),
      ranOn: (server, version) => void versions.set(server, version),
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

function paymentsOf({ short }: Part): number | null {
  if (values.payments !== undefined) return positive('payments', values.payments);
  return (isShort ? short?.payments : undefined) ?? null;
}

/** Everything, unless `--part` names something within the part, or the run is short. */
function wantedOf({ name, short }: Part): BenchmarkContext['wants'] {
  const { part } = values;
  const inShort = isShort ? short?.parts : undefined;
  if (inShort !== undefined) return (...names) => names.some((one) => inShort.includes(one));
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

Runs the named benchmarks or parts, and prints how the system compares with baselines of the same run. Without a name it runs
these parts in short, which takes less than half an hour: ${all
    .flatMap(({ parts }) => parts.filter(({ short }) => short !== undefined))
    .map(({ name }) => name)
    .join(', ')}.
Every measurement goes to .local/bench/<part>.json, and each aim with its figure to .local/bench/summary.md. Exit code 1 means
that something broke; a missed aim is a result.

Benchmarks:
${helpList(all.map(({ name, about, parts }) => [name, `${about} Parts: ${parts.map((part) => part.name).join(', ')}.`]))}

Parts:
${helpList(parts.map((part) => [part.name, `${part.about}.${within(part)}`]))}

Options:
${helpList([
  ['--rounds <n>', 'rounds in which the contenders take turns (7; without a name 2)'],
  ['--seconds <n>', 'how long a contender runs in a round (1.5; without a name 1)'],
  ['--minutes <n>', 'how long each situation of a part in real time lasts (3; endurance: 60)'],
  ['--part <part>', 'one part of a benchmark, or one part of that'],
  ['--payments <n>', 'how many there are where the number matters (of each part: see docs/performance.md)'],
  ['--smoke', 'tiny amounts, one round, two parts at once: shows that everything still works, measures nothing'],
  ['--help', 'this text'],
])}`;
}
