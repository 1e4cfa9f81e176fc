import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { settlementAims, settlementNotes, settlementTables } from './settlement-tables.ts';
import { measureLoad } from './support/measure.ts';
import { findPgbench } from './support/pgbench.ts';
import { interleave, type Round } from './support/rounds.ts';
import { CREATION, operationsOf } from './support/sized-requests.ts';
import { startSettlers, type Settlers } from './support/settlers.ts';
import { countStatements, type StatementCost } from './support/statements.ts';

/** `size`: payments in each database before. `backlog`: transfers that wait at the start of a measurement, a second of its run. */
const amounts = {
  full: { size: 20_000, transfers: 3_000, warmUp: 3_000, backlog: 3_000, connections: 4 },
  smoke: { size: 500, transfers: 100, warmUp: 100, backlog: 1_000, connections: 2 },
};

export type SettlementMeasurements = {
  rounds: Round[];
  /** Creations at one of the replicas, alone and beside a backlog of transfers. */
  creations: Round[];
  statements: { transfers: number; costs: StatementCost[] };
};

/** Straight to payments' processes, with their relays at work and nobody behind them. */
export const benchmark: Benchmark = {
  name: 'settlement',
  on: 'backends',
  about:
    'transfers settled by two replicas of payments beside pgbench running the same writes, and creations beside a backlog of them',
  async run(context) {
    const { rounds, say, scale, attempt } = context;
    const { size, transfers, warmUp } = amounts[scale];
    const settlers = await startSettlers(context, await findPgbench(), size);
    say(`  warming up, then ${rounds} rounds …`);
    const contenders = (count: number) =>
      settlers.all.map(({ name, settle }) => ({ name, measure: () => settle(count) }));
    await interleave(contenders(warmUp), 1);
    const settled = (await attempt('settling', () => interleave(contenders(transfers), rounds))) ?? [];
    const creations = (await attempt('creating beside a backlog', () => createBeside(context, settlers))) ?? [];
    const costs =
      (await attempt('counting statements', () =>
        countStatements(settlers.replicas.adminUrl, () => settlers.replicas.settle(transfers)),
      )) ?? [];
    const measurements: SettlementMeasurements = { rounds: settled, creations, statements: { transfers, costs } };
    return {
      tables: settlementTables(measurements),
      notes: settlementNotes,
      aims: settlementAims(measurements),
      measurements,
    };
  },
};

async function createBeside(
  { load, rounds, runMs, scale }: BenchmarkContext,
  { replicas }: Settlers,
): Promise<Round[]> {
  const { backlog, connections } = amounts[scale];
  const creation = (await operationsOf(replicas.adminUrl)).find(({ name }) => name === CREATION);
  const [replica] = replicas.processes;
  if (creation === undefined || replica === undefined) throw new Error('there is nothing to create with');
  await load.prepare({ ...creation, name: 'creation beside settlement', origin: replica.origin });
  const create = () => measureLoad(load, 'creation beside settlement', { connections, durationMs: runMs }, {});
  return interleave(
    [
      { name: 'alone', measure: create },
      { name: 'beside a backlog', measure: () => replicas.beside(Math.ceil((backlog * runMs) / 1000), create) },
    ],
    rounds,
  );
}
