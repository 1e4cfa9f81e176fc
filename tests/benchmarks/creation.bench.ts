import type { Benchmark } from './benchmark.ts';
import { creationAims, creationNotes, creationTables } from './creation-tables.ts';
import { analyzeAll, startCreators, type Creator, type Creators } from './support/creators.ts';
import { findPgbench } from './support/pgbench.ts';
import { interleave, type Round } from './support/rounds.ts';
import { countStatements, type StatementCost } from './support/statements.ts';
import { countWritten, requireSameWrites, type Written } from './support/written.ts';

/** As many clients at once, of the load generator and of pgbench. */
const CLIENTS = [8, 32];
const WARM_UP_MS = 5_000;
/** A multiple of the clients, of whom pgbench counts for each alone. */
const COUNTED_CREATIONS = 2_048;

export type CreationComparison = { clients: number; rounds: Round[] };
export type CreationWrites = { creations: number; payments: Written; pgbench: Written };
export type CreationStatements = { contender: string; clients: number; creations: number; costs: StatementCost[] };

/**
 * What creations cost beside what their writes alone do. Straight to the processes, with everything behind them at work as in
 * production: the relay, the broker, and the services that hear of each creation.
 */
export const benchmark: Benchmark = {
  name: 'creation',
  about: 'creations through api-gateway, and at payments directly, beside pgbench running the same writes',
  async run(context) {
    const { rounds, runMs, say } = context;
    const creators = await startCreators(context, await findPgbench());
    const writes = await compareWrites(creators);

    const measure = (clients: number, durationMs: number, times: number): Promise<Round[]> =>
      interleave(
        creators.all.map((creator) => ({
          name: creator.name,
          measure: () => creator.create({ clients, durationMs }),
        })),
        times,
      );
    say(`  the writes are the same; warming up, then ${rounds} rounds for each number of clients …`);
    await measure(Math.max(...CLIENTS), WARM_UP_MS, 1);
    await analyzeAll(creators);
    const comparisons: CreationComparison[] = [];
    for (const clients of CLIENTS) comparisons.push({ clients, rounds: await measure(clients, runMs, rounds) });

    const statements = await countAll(creators);
    return {
      tables: creationTables({ comparisons, writes, statements }),
      notes: creationNotes,
      aims: comparisons.flatMap(creationAims),
      measurements: { comparisons, writes, statements },
    };
  },
};

/** @throws Error when what pgbench writes is not what payments writes: their ratio would say nothing. */
async function compareWrites({ payments, pgbench }: Creators): Promise<CreationWrites> {
  const count = (creator: Creator): Promise<Written> =>
    countWritten(creator.adminUrl, async () => {
      const { units } = await creator.create({ clients: Math.max(...CLIENTS), creations: COUNTED_CREATIONS });
      return units;
    });
  const writes = { payments: await count(payments), pgbench: await count(pgbench) };
  requireSameWrites(COUNTED_CREATIONS, writes.payments, writes.pgbench);
  return { creations: COUNTED_CREATIONS, ...writes };
}

async function countAll({ gateway, pgbench }: Creators): Promise<CreationStatements[]> {
  const clients = Math.max(...CLIENTS);
  const counted: CreationStatements[] = [];
  for (const creator of [gateway, pgbench]) {
    const costs = await countStatements(creator.adminUrl, async () => {
      await creator.create({ clients, creations: COUNTED_CREATIONS });
    });
    counted.push({ contender: creator.name, clients, creations: COUNTED_CREATIONS, costs });
  }
  return counted;
}
