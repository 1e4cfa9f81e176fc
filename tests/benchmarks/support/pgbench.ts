import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CannotMeasure } from '../benchmark.ts';
import { cpuUsOfEndedChildren } from './cpu.ts';
import { withCpu, type CpuCounters } from './measure.ts';
import type { Measurement } from './rounds.ts';

const debianDirectory = '/usr/lib/postgresql';

/**
 * PostgreSQL's load generator, which the embedded server does not include. Any version from 15 works, also with a server of another
 * version.
 * @throws CannotMeasure when there is none.
 */
export async function findPgbench(): Promise<string> {
  const versions = await readdir(debianDirectory).catch(() => []);
  const newestFirst = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(debianDirectory, version, 'bin'));
  // Debian's command in PATH is a script that starts one of these, and its CPU time would be counted too.
  const directories = [...newestFirst, ...(process.env['PATH'] ?? '').split(delimiter)];
  const program = directories.map((directory) => join(directory, 'pgbench')).find((path) => existsSync(path));
  if (program !== undefined) return program;
  throw new CannotMeasure('pgbench is not on this machine: install it (Debian and Ubuntu: `apt install postgresql`).');
}

export type PgbenchRun = {
  program: string;
  /** The role and database to connect to. */
  url: string;
  script: string;
  clients: number;
  /** Whole seconds, or transactions of each client. */
  limit: { seconds: number } | { transactions: number };
  /** Set before the script's first line, for each client. */
  variables: Record<string, number>;
};

/** @throws Error when a transaction failed. */
export async function measurePgbench(run: PgbenchRun, counters: CpuCounters): Promise<Measurement> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-pgbench-'));
  try {
    const { result: output, cpuUs } = await withCpu({ ...counters, load: cpuUsOfEndedChildren }, () =>
      runPgbench(run, directory),
    );
    const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1]);
    const units = number(/number of transactions actually processed: (\d+)/);
    const rate = number(/tps = ([\d.]+) \(without initial connection time\)/);
    if (!(units > 0 && rate > 0) || number(/number of failed transactions: (\d+)/) > 0) {
      throw new Error(`pgbench did not do what it should:\n${output}`);
    }
    const latencies = await readLatencies(directory);
    const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
    return { rate, units, p50Ms: percentile(0.5), p99Ms: percentile(0.99), cpuUs };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runPgbench(run: PgbenchRun, directory: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(run.url);
  const script = join(directory, 'script.sql');
  await writeFile(script, run.script);
  const limit = 'seconds' in run.limit ? ['-T', run.limit.seconds] : ['-t', run.limit.transactions];
  const args = [
    ...['-h', hostname, '-p', port, '-U', decodeURIComponent(username), '-n', '-M', 'prepared', '-f', script],
    ...['-c', run.clients, '-j', Math.min(2, run.clients), ...limit],
    ...['--log', '--log-prefix', join(directory, 'latencies')],
    ...Object.entries(run.variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
    decodeURIComponent(pathname.slice(1)),
  ].map(String);
  const env = { ...process.env, PGPASSWORD: decodeURIComponent(password), PGAPPNAME: 'pgbench' };
  const { stdout } = await promisify(execFile)(run.program, args, { env, timeout: 600_000 }).catch((error: unknown) => {
    const { stderr = '', message } = error as Error & { stderr?: string };
    // All its clients report the same error.
    throw new Error(`pgbench failed: ${stderr.split('\n')[0] || message.split('\n')[0]}`);
  });
  return stdout;
}

/**
 * One line for each transaction, with its time in microseconds in the third place.
 * @returns milliseconds, the shortest first.
 */
async function readLatencies(directory: string): Promise<number[]> {
  const files = (await readdir(directory)).filter((name) => name.startsWith('latencies'));
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  return lines.map((line) => Number(line.split(' ')[2]) / 1000).sort((a, b) => a - b);
}
