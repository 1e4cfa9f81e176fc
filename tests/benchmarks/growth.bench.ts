import { testPool } from '@quittance/testkit/database.ts';
import pg from 'pg';
import { serviceDatabase } from '../support/service-database.ts';
import { withDatabase } from '../support/database.ts';
import type { Benchmark, BenchmarkContext } from './benchmark.ts';
import { growthAims, growthNotes, growthTables } from './growth-tables.ts';
import { startBackends } from './support/backends.ts';
import { fillDatabase } from './support/filled-database.ts';
import { addOpenPayments, closeMany } from './support/growing-payments.ts';
import { deliverMany, fillWebhooks } from './support/growing-webhooks.ts';
import { paymentOperations } from './support/payment-operations.ts';
import { serverSettings } from './support/sized-payments.ts';
import { type Cost, costOf, prepareCounting, type MeasuredSchema, type Operation } from './support/statement-costs.ts';
import { webhookOperations } from './support/webhook-operations.ts';

/** `closed`: a quarter of all, as in a very busy hour, a million at most. `times`: runs of an operation in a round. */
const amounts = {
  full: { baseline: 10_000, payments: 1_000_000, times: 30 },
  smoke: { baseline: 500, payments: 1_000, times: 3 },
};
const CLOSED_MAX = 1_000_000;

type State = 'vacuumed' | 'many just closed' | 'many closed while somebody reads';

/** What one operation cost in one round, by the number of rows. */
type GrowthRound = { small: Cost; large: Cost };
export type Growth = { part: string; state: State; operation: string; rounds: GrowthRound[] };

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
export const benchmark: Benchmark = {
  name: 'growth',
  on: 'backends',
  about: 'what each statement of payments and webhooks costs with many rows that have ended, against few',
  parts: partNames,
  async run(context) {
    const { attempt, part, say, scale } = context;
    const size = context.payments ?? amounts[scale].payments;
    const all: Growth[] = [];
    for (const name of partNames.filter((name) => part === null || part === name)) {
      say(`  ${name}: ${amounts[scale].baseline.toLocaleString('en-US')} and ${size.toLocaleString('en-US')} …`);
      await attempt(name, async () => void all.push(...(await measurePart(context, name, size))));
    }
    return { tables: growthTables(all), notes: growthNotes, aims: growthAims(all), measurements: all };
  },
};

async function measurePart(context: BenchmarkContext, name: PartName, size: number): Promise<Growth[]> {
  const { baseline } = amounts[context.scale];
  const small = await open(context, name, baseline);
  const large = await open(context, name, size);
  const closed = Math.min(Math.ceil(size / 4), CLOSED_MAX);
  const measured: Growth[] = [];
  const measure = async (state: State): Promise<void> => {
    context.say(`    ${state} …`);
    for (const [position, operation] of small.operations.entries()) {
      const larger = large.operations[position]!;
      const rounds = await takeTurns(context, [small, operation], [large, larger]);
      measured.push({ part: name, state, operation: operation.name, rounds });
    }
  };
  await measure('vacuumed');
  await parts[name].closeMany(large.adminUrl, size, closed);
  await measure('many just closed');
  await withDatabase(large.adminUrl, async (db) => {
    await db.query('vacuum');
    await db.query('begin isolation level repeatable read');
    await db.query('select 1 from pg_class');
    await parts[name].closeMany(large.adminUrl, size + closed, closed);
    await measure('many closed while somebody reads');
    await db.query('rollback');
  });
  return measured;
}

type Opened = MeasuredSchema & { adminUrl: string; operations: Operation[] };

async function open(context: BenchmarkContext, name: PartName, size: number): Promise<Opened> {
  const { service, schema, open: fill } = parts[name];
  const backends = await startBackends('growth', serverSettings, context);
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

/** The first round is not counted: caches are filled in it, and plans are settled. */
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
