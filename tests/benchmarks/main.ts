import { readdir } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { CannotMeasure, type Benchmark, type BenchmarkResult } from './benchmark.ts';
import { startLoadGenerator } from './support/load.ts';
import { isMet, renderResult } from './support/report.ts';

/**
 * `npm run bench` runs every benchmark, `npm run bench -- <name> …` those, `-- <name> --part <part>` one part of a long one.
 * Ratios to baselines of the same run are what counts: a missed aim is printed and the exit code is 0, because no machine is quiet
 * enough for a verdict. 1 means that something broke, or that a benchmark could not be run here; the others are run all the same.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1.5' },
    part: { type: 'string' },
  },
});

const say = (line: string): void => console.log(line);

for (const benchmark of await chosen(positionals)) {
  say(`\n${benchmark.name}: ${benchmark.about}`);
  const startedAt = new Date();
  const loadBefore = loadavg();
  const result = await runOne(benchmark).catch(sayWhatIsMissing);
  if (result === null) continue;
  say(renderResult(result));
  const file = join(repositoryRoot, '.local', 'bench', `${benchmark.name}.json`);
  await writePrivateJson(file, {
    name: benchmark.name,
    started_at: startedAt.toISOString(),
    node: process.version,
    cpu: { model: cpus()[0]?.model ?? 'unknown', cores: cpus().length },
    load_average: { before: loadBefore, after: loadavg() },
    ...result,
    aims: result.aims.map((aim) => ({ ...aim, met: isMet(aim) })),
  });
  say(`\nEvery measurement is in ${file}`);
}

async function runOne(benchmark: Benchmark): Promise<BenchmarkResult> {
  const closers: (() => Promise<void>)[] = [];
  const onEnd = (close: () => Promise<void>): void => void closers.unshift(close);
  try {
    const load = startLoadGenerator();
    onEnd(() => load.close());
    const rounds = positive('rounds', values.rounds);
    const runMs = positive('seconds', values.seconds) * 1000;
    return await benchmark.run({ load, rounds, runMs, part: partOf(benchmark), say, onEnd });
  } finally {
    for (const close of closers) await close();
  }
}

/** @throws what else was thrown. */
function sayWhatIsMissing(error: unknown): null {
  if (!(error instanceof CannotMeasure)) throw error;
  say(`  ${error.message}`);
  process.exitCode = 1;
  return null;
}

/** @throws Error for a name that no benchmark has. */
async function chosen(names: readonly string[]): Promise<Benchmark[]> {
  const suffix = '.bench.ts';
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith(suffix)).sort();
  const all = await Promise.all(
    files.map(async (file) => ((await import(join(import.meta.dirname, file))) as { benchmark: Benchmark }).benchmark),
  );
  const unknown = names.filter((name) => !all.some((benchmark) => benchmark.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `no benchmark is called ${unknown.join(', ')}; there are: ${all.map(({ name }) => name).join(', ')}`,
    );
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
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
