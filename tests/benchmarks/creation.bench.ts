import type { Benchmark } from './benchmark.ts';
import { creationAims, creationNotes, creationTables } from './creation-tables.ts';
import { analyzeAll, startCreators, type Creator, type Creators } from './support/creators.ts';
import { findPgbench } from './support/pgbench.ts';
import { interleave, type Round } from './support/rounds.ts';
import { countStatements, type StatementCost } from './support/statements.ts';
import { countWritten, requireSameWrites, type Written } from './support/written.ts';

/**
 * `clients` at once, of the load generator and of pgbench. `counted` creations are a multiple of the clients, because pgbench
 * counts for each of them alone.
 */
const amounts = {
  full: { clients: [8, 32], warmUpMs: 5_000, counted: 2_048 },
  smoke: { clients: [8], warmUpMs: 50, counted: 32 },
};
type Amounts = (typeof amounts)['full'];

export type CreationComparison = { clients: number; rounds: Round[] };
export type CreationWrites = { creations: number; payments: Written; pgbench: Written };
export type CreationStatements = { contender: string; clients: number; creations: number; costs: StatementCost[] };

/**
 * What creations cost beside what their writes alone do. Straight to the processes, with everything behind them at work as in
 * production: the relay, the broker, and the services that consume PaymentCreated.
 */
export const benchmark: Benchmark = {
  name: 'creation',
  on: 'stack',
  about: 'creations through api-gateway, and at payments directly, beside pgbench running the same writes',
  async run(context) {
    const { rounds, runMs, say, scale, attempt } = context;
    const { clients: clientCounts, warmUpMs } = amounts[scale];
    const creators = await startCreators(context, await findPgbench());
    const writes = await attempt('comparing writes', () => compareWrites(creators, amounts[scale]));

    const measure = (clients: number, durationMs: number, times: number): Promise<Round[]> =>
      interleave(
        creators.all.map((creator) => ({
          name: creator.name,
          measure: () => creator.create({ clients, durationMs }),
        })),
        times,
      );
    say(`  warming up, then ${rounds} rounds for each number of clients …`);
    await measure(Math.max(...clientCounts), warmUpMs, 1);
    await analyzeAll(creators);
    const comparisons: CreationComparison[] = [];
    for (const clients of clientCounts) {
      const measured = await attempt(`${clients} clients`, () => measure(clients, runMs, rounds));
      if (measured !== undefined) comparisons.push({ clients, rounds: measured });
    }
    const statements = (await attempt('counting statements', () => countAll(creators, amounts[scale]))) ?? [];
    return {
      tables: creationTables({ comparisons, writes, statements }),
      notes: creationNotes,
      aims: comparisons.flatMap(creationAims),
      measurements: { comparisons, writes, statements },
    };
  },
};

/** @throws Error when what pgbench writes is not what payments writes: their ratio would say nothing. */
async function compareWrites({ payments, pgbench }: Creators, { clients, counted }: Amounts): Promise<CreationWrites> {
  const count = (creator: Creator): Promise<Written> =>
    countWritten(creator.adminUrl, async () => {
      const { units } = await creator.create({ clients: Math.max(...clients), creations: counted });
      return units;
    });
  const writes = { payments: await count(payments), pgbench: await count(pgbench) };
  requireSameWrites(counted, writes.payments, writes.pgbench);
  return { creations: counted, ...writes };
}

async function countAll(
  { gateway, pgbench }: Creators,
  { clients: clientCounts, counted: creations }: Amounts,
): Promise<CreationStatements[]> {
  const clients = Math.max(...clientCounts);
  const statements: CreationStatements[] = [];
  for (const creator of [gateway, pgbench]) {
    const costs = await countStatements(creator.adminUrl, async () => {
      await creator.create({ clients, creations });
    });
    statements.push({ contender: creator.name, clients, creations, costs });
  }
  return statements;
}
