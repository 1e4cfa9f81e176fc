import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Cursor } from '@quittance/contracts/payment-cursor.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { noTips } from '../src/views/chain-tips.ts';
import { migrations, schema } from '../src/migrations.ts';
import { anything, createQueries, type ListFilter, type Queries } from '../src/queries/payments.ts';
import { createConfirmationPolicy } from '../src/views/confirmation-policy.ts';
import { readPublicPayments } from '../src/views/payment-details.ts';

// The rows take a while to write. What is measured is blocks read, never time.
jest.setTimeout(120_000);

const MERCHANT = 'mer_with_many';
const PAYMENTS = 100_000;
/** So many are created in one millisecond, one millisecond a minute. */
const OF_ONE_MOMENT = 10;
/** Of every other merchant together; half of them wait, so that looking through all that wait would show. */
const PAYMENTS_OF_OTHERS = 40_000;
const STARTED = Date.parse('2026-01-01T00:00:00Z');
const MINUTES = PAYMENTS / OF_ONE_MOMENT;

const LIMIT = 100;
/** The page, and the row that tells whether there is another. */
const ROWS = LIMIT + 1;
/** For each row at most its own block and one of the index, and a few to find where the page begins. */
const MOST_BLOCKS = 2 * ROWS + 20;
/** For each row that is PAID the way down the index of the paying transfers, and its block. */
const MOST_BLOCKS_OF_TRANSFERS = 5 * ROWS;

let database: TestDatabase;
let pool: Pool;
let queries: Queries;
const sent: { text: string; values: unknown[] }[] = [];

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = createPool({ url: database.url, schema, max: 2, logger: testLogger, applicationName: 'test' });
  await fill();
  queries = createQueries({ pool: recording(pool), schema });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const at = (minute: number): Date => new Date(STARTED + minute * 60_000);
/** In the middle of a moment, so that some of its payments are before it and some after. */
const cursorAt = (minute: number): Cursor => ({ createdAt: at(minute), paymentId: `pay_8${'0'.repeat(31)}` });

const first: ListFilter = { ...anything, limit: LIMIT };
const week = { createdFrom: at(MINUTES / 4), createdTo: at(MINUTES / 2) };

test.each<[name: string, filter: ListFilter, found: number]>([
  ['the first page', first, LIMIT],
  ['page 500', { ...first, after: cursorAt(MINUTES / 2) }, LIMIT],
  ['nearly the last page', { ...first, after: cursorAt(30) }, LIMIT],
  ['the first page of a status that most have', { ...first, status: 'PAID' }, LIMIT],
  ['a deep page of a status that most have', { ...first, status: 'PAID', after: cursorAt(MINUTES / 2) }, LIMIT],
  ['a status that four have', { ...first, status: 'CHECKING' }, 4],
  ['the end of a status that four have', { ...first, status: 'CHECKING', after: cursorAt(MINUTES * 0.4) }, 2],
  ['a status that few have', { ...first, status: 'PENDING' }, 40],
  ['a status that few of very many have', { ...first, status: 'CANCELLED' }, LIMIT],
  ['its deep page', { ...first, status: 'CANCELLED', after: cursorAt(MINUTES * 0.7) }, LIMIT],
  ['a status that no payment has', { ...first, status: 'EXPIRED' }, 0],
  ['a span of time', { ...first, ...week }, LIMIT],
  ['a deep page of a span of time', { ...first, ...week, after: cursorAt(MINUTES / 3) }, LIMIT],
  ['a rare status in a span of time', { ...first, ...week, status: 'PENDING' }, 10],
  ['a rare status since a day', { ...first, createdFrom: at(MINUTES / 4), status: 'CHECKING' }, 3],
  ['a span of time before the cursor', { ...first, createdTo: at(MINUTES / 4), after: cursorAt(MINUTES / 2) }, LIMIT],
])('%s costs what its rows cost, however many payments there are', async (_, filter, found) => {
  sent.length = 0;
  expect((await queries.list(MERCHANT, filter)).payments).toHaveLength(found);
  const [payments, transfers] = await Promise.all(sent.map(explain));
  expect(payments!.blocks).toBeLessThanOrEqual(MOST_BLOCKS);
  // Only the neighbours that were created in the cursor's own millisecond are read for nothing.
  expect(payments!.readForNothing).toBeLessThanOrEqual(OF_ONE_MOMENT);
  expect(payments!.scanned).toEqual([]);
  if (transfers === undefined) expect(found).toBe(0);
  else expect(transfers.blocks).toBeLessThanOrEqual(MOST_BLOCKS_OF_TRANSFERS);
});

test.each([
  ['PENDING', 0],
  ['CHECKING', 1],
  ['PAID', 0],
])('a view of one that is %s by its public token searches the transfers %i times', async (status, searches) => {
  sent.length = 0;
  const { rows } = await pool.query<{ hash: string }>(
    `select encode(token_sha256, 'hex') as hash from payment where merchant_id = $1 and status = $2 limit 1`,
    [MERCHANT, status],
  );
  const readTips = () => Promise.resolve(noTips);
  const sources = { db: recording(pool), readTips, policy: createConfirmationPolicy([]) };
  const found = await readPublicPayments(sources, [rows[0]!.hash]);
  expect(found).toMatchObject([{ payment: { status } }]);
  expect((await explain(sent[0]!)).searched['transfer'] ?? 0).toBe(searches);
});

/** Hands on every statement that is sent, and writes it down. */
function recording(real: Pool): Pool {
  return new Proxy(real, {
    get(target, name) {
      if (name === 'query') {
        return (query: { text: string; values: unknown[] }, values?: unknown[]) => {
          sent.push({ text: query.text, values: values ?? query.values });
          return target.query(query, values);
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Loops': number;
  'Index Searches'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
};

/** Runs a statement once more and tells what that took. */
async function explain({ text, values }: (typeof sent)[number]) {
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  const nodes = nodesOf(plan);
  return {
    blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    readForNothing: nodes.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops'], 0),
    searched: Object.fromEntries(nodes.map((node) => [node['Relation Name'] ?? '', node['Index Searches'] ?? 0])),
    scanned: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
  };
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Few enough for one statement to end within the pool's time limit on a busy machine. */
const BATCH = 4_000;

/** Writes the payments as they would be after years of creating them, and the transfers that paid them. */
async function fill(): Promise<void> {
  const ofThisMerchant = `
    select '${MERCHANT}' as merchant_id, n, $3::timestamptz + n / ${OF_ONE_MOMENT} * interval '1 minute' as made,
           case when n % ${PAYMENTS / 4} = 7 then 'CHECKING'
                when n % ${PAYMENTS / 40} = 11 then 'PENDING'
                when n % ${PAYMENTS / 400} = 13 then 'CANCELLED'
                else 'PAID' end as status
      from generate_series($1::int, $2::int) as n`;
  const ofOthers = `
    select 'mer_other_' || n % 50 as merchant_id, n, $3::timestamptz + n / 5 * interval '1 minute' as made,
           (array['PENDING', 'CHECKING', 'CANCELLED', 'EXPIRED'])[1 + n / 50 % 4] as status
      from generate_series($1::int, $2::int) as n`;
  await insert(ofThisMerchant, PAYMENTS);
  await insert(ofOthers, PAYMENTS_OF_OTHERS);
  await pool.query('analyze payment');
  await pool.query('analyze transfer');
}

/** @param rows a select of the payments numbered from $1 to $2, the first of which was made at $3. */
async function insert(rows: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    await pool.query(
      `with made as (
         insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                              description, created_at, expires_at, paid_at, cancelled_at, expiry_check_at)
         select 'pay_' || md5(merchant_id || n), merchant_id, 't', sha256((merchant_id || n)::bytea), status, 'local', merchant_id,
                (n + 1)::text, n + 1, 'd', made, made + interval '30 minutes', case status when 'PAID' then made end,
                case status when 'CANCELLED' then made end, made
           from (${rows}) as row
         returning *)
       insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                             block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required,
                             payment_id, observed_at)
       select network, md5(payment_id), 0, 1, 'confirmed', merchant_id, 1, 'b', created_at, 's', recipient, amount_units, 6, 2, 2,
              payment_id, created_at
         from made where status = 'PAID' and amount_units % 5 = 0`,
      [from, Math.min(from + BATCH, count) - 1, at(0)],
    );
  }
}
