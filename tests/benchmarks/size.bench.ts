import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { sizeAims, sizeNotes, sizeTables, uniqueAims } from './size-tables.ts';
import { cpuUsOf, cpuUsOfFamily } from './support/cpu.ts';
import { startMatcher } from './support/matching.ts';
import { measureLoad, type CpuCounters } from './support/measure.ts';
import { postmasterOf } from './support/postgres.ts';
import { interleave, type Measurement, type Round } from './support/rounds.ts';
import { startSizedPayments, type SizedPayments } from './support/sized-payments.ts';
import { CREATION, operationsOf, UNIQUE_CREATION } from './support/sized-requests.ts';
import { countStatements, type StatementCost } from './support/statements.ts';

/** Few, so that no request waits for long. */
const CONNECTIONS = 4;
/** What changes the database is done this often in a second of a run: too rarely to make the smallest noticeably larger. */
const A_SECOND = { creation: 120, matching: 60 };
/**
 * `sizes`: payments in a database, the baseline first. The warm-up lasts until compilers and caches have seen every path, and
 * PostgreSQL has settled for its plans.
 */
const amounts = {
  full: { sizes: [10_000, 100_000, 1_000_000], warmUpMs: 2_500, counted: 200 },
  smoke: { sizes: [500, 1_000], warmUpMs: 50, counted: 10 },
};

/** One operation at one size; the name of the size is its number. */
type Sized = { sized: SizedPayments; run: (how: Length) => Promise<Measurement> };
type Length = { durationMs: number } | { operations: number };

export type SizeComparison = { operation: string; rounds: Round[] };
export type SizeStatements = { operation: string; size: number; operations: number; costs: StatementCost[] };
/** Rounds of creations with and without a unique amount, where there are most payments. */
export type UniqueComparison = { size: number; rounds: Round[] };
export type SizeBytes = { size: number; bytes: number };

/** Straight to payments' processes, one for each size, which wait for no other service. */
export const benchmark: Benchmark = {
  name: 'size',
  on: 'backends',
  about: 'what creations, reads and matched transfers cost with few and with many payments in the database',
  async run(context) {
    const { rounds, runMs, say, scale, attempt } = context;
    const { sizes, warmUpMs, counted } = amounts[scale];
    const all = await startSizedPayments(context, sizes);
    const operations = await prepare(context, all);
    say(`  warming up, then ${rounds} rounds for each operation …`);
    const comparisons: SizeComparison[] = [];
    const statements: SizeStatements[] = [];
    for (const [operation, contenders] of operations) {
      const measure = (durationMs: number, times: number): Promise<Round[]> => {
        const how = lengthOf(operation, durationMs);
        const asContenders = contenders.map(({ sized, run }) => ({
          name: String(sized.size),
          measure: () => run(how),
        }));
        return interleave(asContenders, times);
      };
      await attempt(operation, async () => {
        await measure(warmUpMs, 1);
        comparisons.push({ operation, rounds: await measure(runMs, rounds) });
        statements.push(...(await countAll(operation, contenders, counted)));
      });
    }
    const unique = await attempt(UNIQUE_CREATION, () => compareUnique(operations, { runMs, rounds }));
    const bytes: SizeBytes[] = all.map(({ size, bytes }) => ({ size, bytes }));
    return {
      tables: sizeTables({ sizes, comparisons, statements, bytes, unique }),
      notes: sizeNotes,
      aims: [...comparisons.flatMap((comparison) => sizeAims(comparison, sizes)), ...uniqueAims(unique)],
      measurements: { comparisons, statements, bytes, unique },
    };
  },
};

const MATCHING = 'matching';

function lengthOf(operation: string, durationMs: number): Length {
  const isCreation = operation === CREATION || operation === UNIQUE_CREATION;
  const aSecond = isCreation ? A_SECOND.creation : operation === MATCHING ? A_SECOND.matching : null;
  return aSecond === null ? { durationMs } : { operations: Math.ceil((aSecond * durationMs) / 1000) };
}

async function compareUnique(
  operations: ReadonlyMap<string, Sized[]>,
  { runMs, rounds }: { runMs: number; rounds: number },
): Promise<UniqueComparison> {
  const contenders = [CREATION, UNIQUE_CREATION].map((name) => {
    const largest = operations.get(name)?.at(-1);
    if (largest === undefined) throw new Error(`${name} is not measured`);
    return { name, size: largest.sized.size, measure: () => largest.run(lengthOf(name, runMs)) };
  });
  return { size: contenders[0]!.size, rounds: await interleave(contenders, rounds) };
}

/** Matching comes last: it needs the payments that were created. */
async function prepare({ load, onEnd }: BenchmarkContext, all: SizedPayments[]): Promise<Map<string, Sized[]>> {
  const operations = new Map<string, Sized[]>();
  const matching: Sized[] = [];
  for (const sized of all) {
    const counters = await countersOf(sized);
    for (const { name, ...target } of await operationsOf(sized.adminUrl)) {
      const full = `${name} at ${sized.size}`;
      await load.prepare({ name: full, origin: sized.process.origin, ...target });
      const run = (how: Length) => {
        const length = 'durationMs' in how ? how : { durationMs: 60_000, requests: how.operations };
        return measureLoad(load, full, { connections: CONNECTIONS, ...length }, counters);
      };
      operations.set(name, [...(operations.get(name) ?? []), { sized, run }]);
    }
    const matcher = await startMatcher(sized);
    onEnd(() => matcher.close());
    matching.push({ sized, run: (how) => matcher.match('operations' in how ? how.operations : 0, counters) });
  }
  return operations.set(MATCHING, matching);
}

async function countersOf({ adminUrl, process }: SizedPayments): Promise<CpuCounters> {
  const postmaster = await postmasterOf(adminUrl);
  return { payments: () => cpuUsOf(process.pid), postgres: () => cpuUsOfFamily(postmaster) };
}

async function countAll(
  operation: string,
  contenders: readonly Sized[],
  operations: number,
): Promise<SizeStatements[]> {
  const counted: SizeStatements[] = [];
  for (const { sized, run } of contenders) {
    const costs = await countStatements(sized.adminUrl, async () => {
      await run({ operations });
    });
    counted.push({ operation, size: sized.size, operations, costs });
  }
  return counted;
}
