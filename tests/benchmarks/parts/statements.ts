import pg from 'pg';
import { testPool } from '@quittance/testkit/database.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import { withDatabase } from '../../support/database.ts';
import type { Aim, BenchmarkContext, Part, Table } from '../benchmark.ts';
import { startBackends } from '../support/backends.ts';
import { fillDatabase } from '../support/filled-database.ts';
import { addOpenPayments, closeMany } from '../support/growing-payments.ts';
import { deliverMany, fillWebhooks } from '../support/growing-webhooks.ts';
import { CREATION, paymentOperations, UNIQUE_CREATION } from '../support/payment-operations.ts';
import { renderSpread, significant } from '../support/report.ts';
import { spreadOf, type Spread } from '../support/rounds.ts';
import { type Cost, costOf, prepareCounting, type MeasuredSchema, type Operation } from '../support/statement-costs.ts';
import { webhookOperations } from '../support/webhook-operations.ts';

/** `closed`: a quarter of all, as in a very busy hour, a million at most. `times`: runs of an operation in a round. */
const amounts = {
  full: { baseline: 10_000, payments: 1_000_000, times: 30 },
  smoke: { baseline: 500, payments: 1_000, times: 3 },
};
const CLOSED_MAX = 1_000_000;

/** Time with many rows as a multiple of that with few. */
const AT_MOST = 1.2;
/** A unique amount compared with a plain one, where there are most payments. */
const UNIQUE_AT_MOST = 1.3;

type State = 'vacuumed' | 'many just closed' | 'many closed during a long read';

/** What one operation cost in one round, by the number of rows. */
type GrowthRound = { small: Cost; large: Cost };
type Growth = { part: string; state: State; operation: string; rounds: GrowthRound[] };

const parts = {
  payments: {
    service: 'payments',
    schema: 'payments',
    async open(adminUrl: string, size: number, pool: MeasuredSchema['pool']): Promise<Operation[]> {
      await fillDatabase(adminUrl, size);
      return paymentOperations({ adminUrl, pool }, await addOpenPayments(adminUrl));
    },
    closeMany,
  },
  webhooks: {
    service: 'webhook-dispatcher',
    schema: 'webhooks',
    async open(adminUrl: string, size: number, pool: MeasuredSchema['pool']): Promise<Operation[]> {
      await fillWebhooks(adminUrl, size);
      return webhookOperations({ adminUrl, pool });
    },
    closeMany: deliverMany,
  },
} as const;
type PartName = keyof typeof parts;
const partNames = Object.keys(parts) as PartName[];

/** The services' own statements, called as the services call them, on a schema with few payments and on one with many. */
export const statements: Part = {
  name: 'statements',
  on: 'backends',
  about: 'each statement of payments and webhooks with many finished rows, compared with few',
  parts: partNames,
  async run(context) {
    const { attempt, wants, say, scale } = context;
    const size = context.payments ?? amounts[scale].payments;
    const all: Growth[] = [];
    const unique: GrowthRound[] = [];
    for (const name of partNames.filter((name) => wants(name))) {
      say(`  ${name}: ${amounts[scale].baseline.toLocaleString('en-US')} and ${size.toLocaleString('en-US')} …`);
      await attempt(name, async () => {
        const measured = await measurePart(context, name, size);
        all.push(...measured.growth);
        unique.push(...measured.unique);
      });
    }
    return {
      tables: [...tablesOf(all), uniqueTable(unique)],
      notes,
      aims: [...all.map(aimOf), ...uniqueAims(unique)],
      measurements: { growth: all, unique },
    };
  },
};

/** @returns `unique`: a unique creation next to a plain one on the same schema, in turns; none for webhooks. */
async function measurePart(
  context: BenchmarkContext,
  name: PartName,
  size: number,
): Promise<{ growth: Growth[]; unique: GrowthRound[] }> {
  const { baseline } = amounts[context.scale];
  const small = await open(context, name, baseline);
  const large = await open(context, name, size);
  const closed = Math.min(Math.ceil(size / 4), CLOSED_MAX);
  const growth: Growth[] = [];
  const measure = async (state: State): Promise<void> => {
    context.say(`    ${state} …`);
    for (const [position, operation] of small.operations.entries()) {
      const larger = large.operations[position]!;
      const rounds = await takeTurns(context, [small, operation], [large, larger]);
      growth.push({ part: name, state, operation: operation.name, rounds });
    }
  };
  await measure('vacuumed');
  const [plain, other] = [CREATION, UNIQUE_CREATION].map((wanted) =>
    large.operations.find((operation) => operation.name === wanted),
  );
  const unique = plain && other ? await takeTurns(context, [large, plain], [large, other]) : [];
  await parts[name].closeMany(large.adminUrl, size, closed);
  await measure('many just closed');
  await withDatabase(large.adminUrl, async (db) => {
    await db.query('vacuum');
    await db.query('begin isolation level repeatable read');
    await db.query('select 1 from pg_class');
    await parts[name].closeMany(large.adminUrl, size + closed, closed);
    await measure('many closed during a long read');
    await db.query('rollback');
  });
  return { growth, unique };
}

type Opened = MeasuredSchema & { adminUrl: string; operations: Operation[] };

async function open(context: BenchmarkContext, name: PartName, size: number): Promise<Opened> {
  const { service, schema, open: fill } = parts[name];
  const backends = await startBackends('growth', context);
  const { adminUrl } = await serviceDatabase({
    ...{ service, adminUrl: backends.adminUrl, database: `growth_${schema}_${size}` },
    password: 'only for a benchmark',
  });
  const pool = testPool({ url: adminUrl, schema, max: 1 });
  context.onEnd(() => pool.end());
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  context.onEnd(() => admin.end());
  const operations = await fill(adminUrl, size, pool);
  await prepareCounting({ admin, pool });
  return { admin, pool, adminUrl, operations };
}

/** The first round is not counted: it fills caches and settles plans. */
async function takeTurns(
  { rounds, scale }: BenchmarkContext,
  [small, ofSmall]: [MeasuredSchema, Operation],
  [large, ofLarge]: [MeasuredSchema, Operation],
): Promise<GrowthRound[]> {
  const { times } = amounts[scale];
  const results: GrowthRound[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const runs = { from: round * times, times };
    const measured = {
      small: await costOf(small, ofSmall, runs),
      large: await costOf(large, ofLarge, runs),
    };
    if (round > 0) results.push(measured);
  }
  return results;
}

const timesOf = (rounds: readonly GrowthRound[], what: keyof Cost): Spread =>
  spreadOf(rounds.map(({ small, large }) => large[what] / small[what]));

const aimOf = ({ part, state, operation, rounds }: Growth): Aim => ({
  what: `${part}, ${state}: ${operation}, time as a multiple of that with few`,
  measured: timesOf(rounds, 'ms'),
  atMost: AT_MOST,
});

const notes = [
  'ms and pages (of 8 KiB) are of one run in the database, without planning, round trips and commits; × is the median of the ratios of the',
  'rounds. Every run is rolled back. The small schema stays vacuumed; autovacuum is off in both, so nothing but the described state differs.',
];

const tablesOf = (all: readonly Growth[]): Table[] =>
  [...Map.groupBy(all, ({ part, state }) => `${part}: ${state}`)].map(([title, rows]) => ({
    title,
    columns: ['statement', 'ms, few', 'ms, many', '×', 'pages, few', 'pages, many', '× pages'],
    rows: rows.map(({ operation, rounds }) => {
      const of = (size: 'small' | 'large', what: keyof Cost) =>
        spreadOf(rounds.map((round) => round[size][what])).median;
      return [
        operation,
        ...[of('small', 'ms'), of('large', 'ms')].map(significant),
        renderSpread(timesOf(rounds, 'ms')),
        ...[of('small', 'pages'), of('large', 'pages')].map(significant),
        significant(timesOf(rounds, 'pages').median),
      ];
    }),
  }));

const uniqueAims = (rounds: readonly GrowthRound[]): Aim[] =>
  rounds.length === 0
    ? []
    : [
        {
          what: 'a unique amount: time with many as a multiple of that of a plain creation',
          measured: timesOf(rounds, 'ms'),
          atMost: UNIQUE_AT_MOST,
        },
      ];

const uniqueTable = (rounds: readonly GrowthRound[]): Table => ({
  title: 'A unique amount, to a plain creation',
  columns: ['', '×'],
  rows: rounds.length === 0 ? [] : [['vacuumed', renderSpread(timesOf(rounds, 'ms'))]],
});
