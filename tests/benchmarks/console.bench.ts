import { withDatabase } from '../support/database.ts';
import { asOperator } from '../support/operator.ts';
import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { consoleAims, consoleNotes, consoleTables } from './console-tables.ts';
import { consoleRequests, PUBLIC_STATUS } from './support/console-requests.ts';
import { fillDatabase } from './support/filled-database.ts';
import { measureLoad } from './support/measure.ts';
import { interleave, type Contender, type Round } from './support/rounds.ts';
import { benchmarkStack } from './support/stack.ts';
import { countStatements, type StatementCost } from './support/statements.ts';

const amounts = {
  full: { payments: 1_000_000, warmUpMs: 1_000, counted: 10 },
  smoke: { payments: 1_000, warmUpMs: 50, counted: 1 },
};

export type ConsolePages = { rounds: Round[]; pages: string[]; statements: PageStatements[] };
/** What a page asked the database, and how often it was asked for. */
type PageStatements = { page: string; requests: number; costs: StatementCost[] };

/** One person at a time: each page by itself, with every service behind it. */
export const benchmark: Benchmark = {
  name: 'console',
  on: 'stack',
  about: "the console's pages with many payments in the database, beside the public status of one of them",
  async run(context) {
    const { load, rounds, runMs, scale, say, attempt } = context;
    const { warmUpMs, counted } = amounts[scale];
    const { targets, adminUrl } = await start(context);
    for (const target of targets) await load.prepare(target);
    const measureFor = (durationMs: number, times: number): Promise<Round[]> => {
      const contenders = targets.map(({ name }): Contender => {
        return { name, measure: () => measureLoad(load, name, { connections: 1, durationMs }, {}) };
      });
      return interleave(contenders, times);
    };
    say(`  warming up, then ${rounds} rounds …`);
    await measureFor(warmUpMs, 1);
    const measured = (await attempt('the pages', () => measureFor(runMs, rounds))) ?? [];
    const statements: PageStatements[] = [];
    for (const { name } of targets) {
      const costs = await countStatements(adminUrl, async () => {
        await load.run(name, { connections: 1, durationMs: 60_000, requests: counted });
      });
      statements.push({ page: name, requests: counted, costs });
    }
    const pages = targets.map(({ name }) => name).filter((name) => name !== PUBLIC_STATUS);
    const result: ConsolePages = { rounds: measured, pages, statements };
    return {
      tables: consoleTables(result),
      notes: consoleNotes,
      aims: measured.length === 0 ? [] : consoleAims(result),
      measurements: result,
    };
  },
};

async function start(context: BenchmarkContext) {
  const { say, scale } = context;
  const size = context.payments ?? amounts[scale].payments;
  say(`  starting a stack with ${size.toLocaleString('en-US')} payments …`);
  const { file: stack } = await benchmarkStack(context);
  await fillDatabase(stack.postgres_url, size);
  // The gateway knows merchants, too; and somebody has to sign in.
  await withDatabase(stack.postgres_url, (db) =>
    db.query(
      `insert into gateway.merchant (merchant_id, name, created_at)
       select merchant_id, 'Shop ' || right(merchant_id, 6), now() - interval '90 days' from payments.gate
       on conflict do nothing`,
    ),
  );
  const body = { name: `bench-${Date.now()}`, role: 'admin' };
  const { credential } = await asOperator<{ credential: string }>(stack, 'POST', '/operators', body);
  const targets = await consoleRequests(stack, credential);
  return { targets, adminUrl: stack.postgres_url };
}
