import { withDatabase } from '../../support/database.ts';
import { asOperator } from '../../support/operator.ts';
import type { BenchmarkContext, Part, Table } from '../benchmark.ts';
import { consoleRequests, PUBLIC_STATUS } from '../support/console-requests.ts';
import { fillDatabase } from '../support/filled-database.ts';
import { measureLoad } from '../support/measure.ts';
import { shortened, significant } from '../support/report.ts';
import { interleave, type Contender, type Round } from '../support/rounds.ts';
import { compare, comparedTo } from '../support/sound-baselines.ts';
import { benchmarkStack } from '../support/stack.ts';
import { countStatements, type StatementCost } from '../support/statements.ts';
import { medianCell, namesOf, ratioCell, type Figure } from '../support/tables.ts';

const amounts = {
  full: { payments: 1_000_000, warmUpMs: 1_000, counted: 10 },
  smoke: { payments: 1_000, warmUpMs: 50, counted: 1 },
};
/** A public status takes 2 ms by itself, so this is 200 ms. */
const AT_MOST = 100;
/** Of all statements of all pages, this many of the slowest are shown. */
const SHOWN = 15;

/** What a page asked the database, and how often it was requested. */
type PageStatements = { page: string; requests: number; costs: StatementCost[] };

const timeOf: Figure = ({ rate }) => 1 / rate;

/** One operator: each page by itself, with every service behind it. */
export const consolePages: Part = {
  name: 'console',
  on: 'stack',
  about: "the console's pages with many payments in the database, compared with the public status of one payment",
  async run(context) {
    const { load, rounds, runMs, scale, say, attempt } = context;
    const { warmUpMs, counted } = amounts[scale];
    const { targets, adminUrl } = await start(context);
    for (const target of targets) await load.prepare(target);
    const contenders = (durationMs: number) =>
      targets.map(({ name }): Contender => {
        return { name, measure: () => measureLoad(load, name, { connections: 1, durationMs }, {}) };
      });
    say(`  warming up, then ${rounds} rounds …`);
    await interleave(contenders(warmUpMs), 1);
    const measured = (await attempt('the pages', () => compare(context, contenders(runMs), [PUBLIC_STATUS]))) ?? [];
    const statements: PageStatements[] = [];
    for (const { name } of targets) {
      const how = { connections: 1, durationMs: 60_000, requests: counted };
      const costs = await countStatements(adminUrl, () => load.run(name, how));
      statements.push({ page: name, requests: counted, costs });
    }
    return {
      tables: [pageTable(measured), slowestTable(statements)],
      notes: [
        'ms is the median of one request of one operator. Ratios to the public status, which goes straight to the gateway, are medians of',
        'the rounds (least–greatest). Merchant pages are those of the largest merchant, which has a fifth of all payments. The overview',
        'counts past days once per process, which happens in the warm-up.',
      ],
      aims: namesOf(measured)
        .filter((name) => name !== PUBLIC_STATUS)
        .map((page) => ({
          what: `${page}: time to that of a public status`,
          ...comparedTo(measured, timeOf, page, PUBLIC_STATUS),
          atMost: AT_MOST,
        })),
      measurements: { rounds: measured, statements },
    };
  },
};

async function start(context: BenchmarkContext) {
  const { say, scale } = context;
  const size = context.payments ?? amounts[scale].payments;
  say(`  starting a stack with ${size.toLocaleString('en-US')} payments …`);
  const { file: stack } = await benchmarkStack(context);
  await fillDatabase(stack.postgres_url, size);
  // The gateway has merchants of its own, and an operator has to sign in.
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

const pageTable = (rounds: Round[]): Table => ({
  title: 'One page',
  columns: ['', 'ms', 'p99 ms', 'to a public status'],
  rows: namesOf(rounds).map((name) => [
    name,
    medianCell(rounds, name, (measurement) => timeOf(measurement) * 1000),
    medianCell(rounds, name, ({ p99Ms }) => p99Ms),
    ratioCell(rounds, timeOf, name, PUBLIC_STATUS),
  ]),
});

function slowestTable(statements: PageStatements[]): Table {
  const slowest = statements
    .flatMap(({ page, requests, costs }) => costs.map((cost) => ({ page, cost, us: cost.execUs / requests })))
    .sort((a, b) => b.us - a.us)
    .slice(0, SHOWN);
  return {
    title: 'Statements that take longest for a page',
    columns: ['', 'ms', 'pages'],
    rows: slowest.map(({ page, cost, us }) => [
      `${page}: ${shortened(cost.query)}`,
      significant(us / 1000),
      significant(cost.pages / cost.calls),
    ]),
  };
}
