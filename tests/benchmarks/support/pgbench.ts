import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import { CannotMeasure } from '../benchmark.ts';
import { cpuUsOfEndedChildren } from './cpu.ts';
import { latenciesOf } from './latencies.ts';
import { withCpu, type CpuCounters } from './measure.ts';
import { rowsRead } from './postgres.ts';
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
  /** The superuser's address of that database. */
  adminUrl: string;
  script: string;
  clients: number;
  /** Whole seconds, or transactions of each client. */
  limit: { seconds: number } | { transactions: number };
  /** Set before the script's first line, for each client. */
  variables: Record<string, number>;
};

/**
 * @returns also how long it took until every session had ended a transaction, in milliseconds. The rate is that of the time after it.
 * @throws Error when a transaction failed.
 */
export async function measurePgbench(
  run: PgbenchRun,
  counters: CpuCounters,
): Promise<Measurement & { warmUpMs: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-pgbench-'));
  try {
    await analyze(run.adminUrl);
    const rowsBefore = await rowsRead(run.adminUrl);
    const { result: output, cpuUs } = await withCpu({ ...counters, load: cpuUsOfEndedChildren }, async () => {
      const text = await runPgbench(run, directory);
      await untilSessionsEnded(run.adminUrl);
      return text;
    });
    const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1]);
    const units = number(/number of transactions actually processed: (\d+)/);
    if (!(units > 0) || number(/number of failed transactions: (\d+)/) > 0) {
      throw new Error(`pgbench did not do what it should:\n${output}`);
    }
    const { rate, latenciesMs, warmUpMs } = steadyPart(await readTransactions(directory));
    const { p50: p50Ms, p99: p99Ms } = latenciesOf(latenciesMs);
    return { rate, units, p50Ms, p99Ms, cpuUs, warmUpMs, rowsRead: (await rowsRead(run.adminUrl)) - rowsBefore };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * A session plans a prepared statement once, from what is known of the tables then. Of new tables nothing is known, and an index that
 * finds every open payment seems as good as the one that finds a single one: such a session slows down with each payment.
 */
const analyze = (adminUrl: string): Promise<unknown> =>
  withDatabase(adminUrl, async (db) => {
    const { rows } = await db.query<{ name: string }>('select relid::regclass::text as name from pg_stat_user_tables');
    return db.query(`analyze ${rows.map(({ name }) => name).join(', ')}`);
  });

const SESSION = 'pgbench';
/** By default a session plans each statement five times more, in case that a plan for the values at hand is better. */
const ONE_PLAN = '-c plan_cache_mode=force_generic_plan';

const untilSessionsEnded = (adminUrl: string): Promise<void> =>
  withDatabase(adminUrl, (db) =>
    eventually(async () => {
      const { rows } = await db.query('select from pg_stat_activity where application_name = $1', [SESSION]);
      if (rows.length > 0) throw new Error(`${rows.length} sessions of pgbench have not ended`);
    }),
  );

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
  const env = { ...process.env, PGPASSWORD: decodeURIComponent(password), PGAPPNAME: SESSION, PGOPTIONS: ONE_PLAN };
  const { stdout } = await promisify(execFile)(run.program, args, { env, timeout: 600_000 }).catch((error: unknown) => {
    const { stderr = '', message } = error as Error & { stderr?: string };
    // All its clients report the same error.
    throw new Error(`pgbench failed: ${stderr.split('\n')[0] || message.split('\n')[0]}`);
  });
  return stdout;
}

/** One line for each transaction: its client, its number, microseconds, the script, and when it ended, in seconds and microseconds. */
async function readTransactions(directory: string): Promise<Transaction[]> {
  const files = (await readdir(directory)).filter((name) => name.startsWith('latencies'));
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  return lines.map((line) => {
    const [client = NaN, , us = NaN, , seconds = NaN, microseconds = NaN] = line.split(' ').map(Number);
    return { client, ms: us / 1000, endedAt: seconds * 1000 + microseconds / 1000 };
  });
}

/** `endedAt`: milliseconds since 1970. */
export type Transaction = { client: number; ms: number; endedAt: number };

/**
 * What was done after every client had ended one transaction. In it, a session reads the catalog and plans every statement, which takes
 * longer than a hundred later ones; services have done this once, before the first round.
 * @returns the rate in transactions a second. If no client ended a second transaction, these are the figures of all.
 */
export function steadyPart(transactions: readonly Transaction[]): {
  rate: number;
  latenciesMs: number[];
  warmUpMs: number;
} {
  const firstEnds = new Map<number, number>();
  for (const { client, endedAt } of transactions)
    firstEnds.set(client, Math.min(endedAt, firstEnds.get(client) ?? Infinity));
  const begunAt = transactions.reduce((first, { ms, endedAt }) => Math.min(first, endedAt - ms), Infinity);
  const warmAt = Math.max(...firstEnds.values());
  const later = transactions.filter(({ endedAt }) => endedAt > warmAt);
  const [steady, from] = later.length > 0 ? [later, warmAt] : [transactions, begunAt];
  const seconds = (steady.reduce((last, { endedAt }) => Math.max(last, endedAt), from) - from) / 1000;
  return { rate: steady.length / seconds, latenciesMs: steady.map(({ ms }) => ms), warmUpMs: warmAt - begunAt };
}
