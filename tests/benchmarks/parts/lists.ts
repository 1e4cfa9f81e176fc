import { testPool } from '@quittance/testkit/database.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { anything, isSearch, listPayments, type ListFilter } from '../../../services/payments/src/payment/list.sql.ts';
import { searchPayments } from '../../../services/payments/src/payment/search.sql.ts';
import { createDayCounts } from '../../../services/payments/src/reports/totals.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import type { Aim, Part, Table } from '../benchmark.ts';
import { startBackends } from '../support/backends.ts';
import { fillDatabase, LARGEST } from '../support/filled-database.ts';
import { NETWORK } from '../support/payments-process.ts';
import { significant } from '../support/report.ts';

const amounts = { full: { payments: 1_000_000, times: 10 }, smoke: { payments: 1_000, times: 2 } };
/** Of most answers. */
const WITHIN_MS = 200;
const SHARE = 0.95;
const DAY_MS = 86_400_000;
const PAGE = 50;

type Question = { name: string; ask: () => Promise<unknown> };

/** What operators and merchants' people ask the service payments, of a shop with a fifth of all payments and of one with all. */
export const lists: Part = {
  name: 'lists',
  on: 'backends',
  about: 'lists, searches and totals of payments, also where nothing matches, in milliseconds',
  async run(context) {
    const { attempt, rounds, say, scale } = context;
    const size = context.payments ?? amounts[scale].payments;
    const times = new Map<string, number[]>();
    for (const [shop, largest] of [
      ['a fifth', 0.2],
      ['nearly all', 0.999],
    ] as const) {
      say(`  ${size.toLocaleString('en-US')} payments, one merchant has ${shop} …`);
      await attempt(shop, async () => {
        const { adminUrl } = await startBackends('lists', context);
        const database = await serviceDatabase({
          ...{ service: 'payments', adminUrl, database: `lists_${shop.replace(' ', '_')}_${size}` },
          password: 'only for a benchmark',
        });
        await fillDatabase(database.adminUrl, size, { largest });
        const pool = testPool({ url: database.adminUrl, schema: 'payments', max: 1 });
        context.onEnd(() => pool.end());
        for (const { name, ask } of await questions(pool)) {
          await ask();
          const took: number[] = [];
          for (let n = 0; n < rounds * amounts[scale].times; n += 1) took.push(await msOf(ask));
          times.set(
            `${shop}: ${name}`,
            took.sort((one, other) => one - other),
          );
        }
      });
    }
    return {
      tables: [tableOf(times)],
      notes: [
        'At the database, with one connection: the service adds the request itself. Each question is asked once before it is measured, so',
        'the totals of past days are counted then; "totals, first" has a process that has counted nothing.',
      ],
      aims: [...times].map(([name, took]): Aim => {
        const ratio = at(took, SHARE) / WITHIN_MS;
        return { what: `${name}: p95 to 200 ms`, measured: { median: ratio, min: ratio, max: ratio }, atMost: 1 };
      }),
      measurements: Object.fromEntries(times),
    };
  },
};

async function questions(pool: Pool): Promise<Question[]> {
  const { rows } = await pool.query<{ small: string | null; some: string[]; rare: string }>(
    `select (select merchant_id from gate where used_lifetime <= 10 order by used_lifetime desc limit 1) as small,
            (select array_agg(merchant_id) from (select merchant_id from gate order by merchant_id limit 20) first) as some,
            (select description from payment order by payment_id offset 10 limit 1) as rare`,
  );
  const { small, some, rare } = rows[0]!;
  const list = (merchants: readonly string[] | null, asked: Partial<ListFilter>) => () => {
    const filter = { ...anything, ...asked };
    const [only] = merchants ?? [];
    return only !== undefined && !isSearch(filter)
      ? listPayments(pool, only, {
          ...{ networks: [NETWORK], filter, part: { after: null, limit: PAGE, order: 'newest first' } },
        })
      : searchPayments(pool, { merchants, filter, after: null, limit: PAGE });
  };
  const nothing = { text: 'no such text' };
  const tenDaysAgo = new Date(Date.now() - 10 * DAY_MS);
  const today = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  const month = { from: new Date(today.getTime() - 29 * DAY_MS), to: today };
  const counted = createDayCounts(pool);
  return [
    { name: 'all: newest', ask: list(null, {}) },
    { name: 'all: a status', ask: list(null, { status: 'CANCELLED' }) },
    { name: 'all: a text that most have', ask: list(null, { text: 'teas' }) },
    { name: 'all: a text of the oldest', ask: list(null, { text: rare }) },
    { name: 'all: a text that none has', ask: list(null, nothing) },
    { name: 'all: the same, ten days ago', ask: list(null, { ...nothing, createdTo: tenDaysAgo }) },
    { name: 'all: amounts that none has', ask: list(null, { amountMin: 1n, amountMax: 2n }) },
    { name: '20 merchants: newest', ask: list(some, { amountMin: 1n }) },
    { name: '20 merchants: a text that none has', ask: list(some, nothing) },
    { name: 'the largest: newest', ask: list([LARGEST], {}) },
    { name: 'the largest: a status that none has', ask: list([LARGEST], { status: 'CHECKING' }) },
    { name: 'the largest: a text that none has', ask: list([LARGEST], nothing) },
    { name: 'the largest: and a rare status', ask: list([LARGEST], { ...nothing, status: 'CANCELLED' }) },
    { name: 'the largest: an amount as text', ask: list([LARGEST], { text: '1.990001' }) },
    { name: 'the largest: amounts that none has', ask: list([LARGEST], { amountMin: 1n, amountMax: 2n }) },
    ...(small === null ? [] : [{ name: 'a small merchant: a text that none has', ask: list([small], nothing) }]),
    { name: 'the largest: totals of 30 days', ask: () => counted(LARGEST, month) },
    { name: 'the largest: totals, first', ask: () => createDayCounts(pool)(LARGEST, month) },
  ];
}

async function msOf(ask: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await ask();
  return performance.now() - start;
}

/** @param took in ascending order. */
const at = (took: readonly number[], share: number): number =>
  took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN;

const tableOf = (times: Map<string, number[]>): Table => ({
  title: 'One answer, by the share of all payments that the largest merchant has',
  columns: ['', 'p50 ms', 'p95 ms'],
  rows: [...times].map(([name, took]) => [name, significant(at(took, 0.5)), significant(at(took, SHARE))]),
});
