import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cursor, SEARCHED_MAX } from '@quittance/contracts/http/payments/payments.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { noTips, createConfirmationPolicy } from '../src/payment/progress.ts';
import { migrations, schema } from '../src/migrations.ts';
import { anything, listPayments, type ListFilter } from '../src/payment/list.sql.ts';
import { searchPayments } from '../src/payment/search.sql.ts';
import { countPayments } from '../src/reports/report.sql.ts';
import { readPublicPayments } from '../src/payment/view.ts';

// Writing the rows takes a while. The test measures blocks read, never time.

const MERCHANT = 'mer_with_many';
const TWO_FACED = 'mer_two_faced';
const PAYMENTS_OF_TWO_FACED = 40_000;
const PAYMENTS = 100_000;
/** How many are created in one millisecond; one such millisecond a minute. */
const OF_ONE_MOMENT = 10;
/** Of all other merchants together; half of them wait, so that a scan of all waiting ones would show. */
const PAYMENTS_OF_OTHERS = 40_000;
const STARTED = Date.parse('2026-01-01T00:00:00Z');
const MINUTES = PAYMENTS / OF_ONE_MOMENT;

const LIMIT = 100;
/** The page, and the row that shows whether there is another. */
const ROWS = LIMIT + 1;
/** For each row at most its own block and one of the index, and a few to find where the page begins. */
const MOST_BLOCKS = 2 * ROWS + 20;
/** For each PAID row the descent of the indexes of the paying transfers and of acceptances, and its block. */
const MOST_BLOCKS_OF_TRANSFERS = 8 * ROWS;
/** Each network and status is searched separately. */
const WAYS = 2 * 5;

let database: TestDatabase;
let pool: Pool;
const sent: { text: string; values: unknown[] }[] = [];

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 2 });
  await fill();
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const at = (minute: number): Date => new Date(STARTED + minute * 60_000);
/** In the middle of a moment, so that some of its payments are before it and some after. */
const cursorAt = (minute: number): Cursor => ({ createdAt: at(minute), paymentId: `pay_8${'0'.repeat(31)}` });

type Asked = Partial<ListFilter> & { after?: Cursor | null };

const week = { createdFrom: at(MINUTES / 4), createdTo: at(MINUTES / 2) };

/** Lists a page as the route does. */
const list = (merchant: string, { after = null, ...filter }: Asked) =>
  listPayments(recording(pool), merchant, {
    networks: ['local', 'other'],
    filter: { ...anything, ...filter },
    part: { after, limit: LIMIT, order: 'newest first' },
  });

test.each<[name: string, asked: Asked, found: number]>([
  ['the first page', {}, LIMIT],
  ['page 500', { after: cursorAt(MINUTES / 2) }, LIMIT],
  ['nearly the last page', { after: cursorAt(30) }, LIMIT],
  ['the first page of a status that most have', { status: 'PAID' }, LIMIT],
  ['a deep page of a status that most have', { status: 'PAID', after: cursorAt(MINUTES / 2) }, LIMIT],
  ['a status that four have', { status: 'CHECKING' }, 4],
  ['the end of a status that four have', { status: 'CHECKING', after: cursorAt(MINUTES * 0.4) }, 2],
  ['a status that few have', { status: 'PENDING' }, 40],
  ['a status that few of very many have', { status: 'CANCELLED' }, LIMIT],
  ['its deep page', { status: 'CANCELLED', after: cursorAt(MINUTES * 0.7) }, LIMIT],
  ['a status that no payment has', { status: 'EXPIRED' }, 0],
  ['a span of time', week, LIMIT],
  ['a deep page of a span of time', { ...week, after: cursorAt(MINUTES / 3) }, LIMIT],
  ['a rare status in a span of time', { ...week, status: 'PENDING' }, 10],
  ['a rare status since a day', { createdFrom: at(MINUTES / 4), status: 'CHECKING' }, 3],
  ['a span of time before the cursor', { createdTo: at(MINUTES / 4), after: cursorAt(MINUTES / 2) }, LIMIT],
])('%s costs what its rows cost, however many payments there are', async (_, asked, found) => {
  sent.length = 0;
  expect((await list(MERCHANT, asked)).payments).toHaveLength(found);
  const { blocks, readForNothing, scanned } = await explain(sent[0]!);
  expect(blocks).toBeLessThanOrEqual(MOST_BLOCKS + MOST_BLOCKS_OF_TRANSFERS);
  // Only neighbours created in the cursor's own millisecond are read in vain.
  expect(readForNothing).toBeLessThanOrEqual(OF_ONE_MOMENT);
  expect(scanned).toEqual([]);
});

test.each<[name: string, merchants: string[] | null, asked: Partial<ListFilter>, isWhole: boolean]>([
  ['of a merchant with many', [MERCHANT], {}, false],
  ['of a status that most have', [MERCHANT], { status: 'PAID' }, false],
  ['of a status that few have', [MERCHANT], { status: 'PENDING' }, true],
  ['in a span of time', [MERCHANT], week, false],
  ['of several merchants', [MERCHANT, TWO_FACED, 'mer_other_1'], {}, false],
  ['of all merchants', null, {}, false],
  ['of a merchant that has none', ['mer_unknown'], {}, true],
])(
  'a search %s that finds nothing reads a limited part in the order of an index',
  async (_, merchants, asked, isWhole) => {
    const { page, read, scanned } = await search(merchants, { ...asked, text: 'no such text' });
    expect(page.payments).toEqual([]);
    expect(page.searchedTo === null).toBe(isWhole);
    expect(read).toBeLessThanOrEqual(SEARCHED_MAX + 3);
    expect(scanned).toEqual([]);
  },
);

test.each([[[MERCHANT]], [null]])(
  'a search of %j for what most payments have reads only its page',
  async (merchants) => {
    const { page, read } = await search(merchants, { text: 'd' });
    expect(page.payments).toHaveLength(LIMIT);
    // The window function reads some ahead.
    expect(read).toBeLessThanOrEqual(2 * LIMIT);
  },
);

/** Searches, and explains the search with the settings of its transaction. */
async function search(merchants: string[] | null, asked: Partial<ListFilter>) {
  sent.length = 0;
  const filter = { ...anything, ...asked };
  const page = await searchPayments(recording(pool), { merchants, filter, after: null, limit: LIMIT });
  const [settings, statement] = sent.filter(({ text }) => /enable_sort|is_last/.test(text)).map(({ text }) => text);
  const { values } = sent.find(({ text }) => text === statement)!;
  const connection = await pool.connect();
  try {
    await connection.query('begin');
    await connection.query(settings!);
    return { page, ...(await explain({ text: statement!, values }, connection)) };
  } finally {
    await connection.query('rollback');
    connection.release();
  }
}

/** For the two-faced merchant: payments on one wallet and network were paid, and those on the other cancelled, alternating. */
const paidHalf = { recipient: 'wallet a', network: 'local' };

test.each<[name: string, asked: Asked, found: number]>([
  ['one wallet', { recipient: 'wallet a' }, LIMIT],
  ['a deep page of one wallet', { recipient: 'wallet b', after: cursorAt(5_000) }, LIMIT],
  ['one network', { network: 'other' }, LIMIT],
  ['one wallet on one network', paidHalf, LIMIT],
  ['a status that the wallet never has', { recipient: 'wallet a', status: 'CANCELLED' }, 0],
  ['a status that the network never has', { network: 'local', status: 'CANCELLED' }, 0],
  ['a wallet on the network that it is not on', { recipient: 'wallet a', network: 'other' }, 0],
  ['a wallet that has none', { recipient: 'wallet c' }, 0],
  ['one order', { orderId: 'order 700' }, 3],
  ['one order with a status that it does not have', { orderId: 'order 700', status: 'EXPIRED' }, 0],
  ['an order that there is not', { orderId: 'order' }, 0],
  ['a reference', { idEnd: '0000000abc' }, 0],
  ['a transaction', { transactionId: 'unknown' }, 0],
  ['a wallet and a reference', { recipient: 'wallet a', idEnd: '0000000abc' }, 0],
  ['a wallet in a span of time', { recipient: 'wallet b', createdFrom: at(1_000), createdTo: at(1_300) }, LIMIT],
])('%s costs what its rows cost, whatever most payments of the merchant are', async (_, asked, found) => {
  sent.length = 0;
  expect((await list(TWO_FACED, asked)).payments).toHaveLength(found);
  const { blocks, readForNothing, scanned } = await explain(sent[0]!);
  expect(blocks).toBeLessThanOrEqual(MOST_BLOCKS + MOST_BLOCKS_OF_TRANSFERS + WAYS * 10);
  expect(readForNothing).toBeLessThanOrEqual(2 * OF_ONE_MOMENT);
  expect(scanned).toEqual([]);
});

/** As many as the two-faced merchant, who has one a minute, creates in the time in which a payment is usually paid. */
const OF_TWO_DAYS = 2 * 24 * 60;
const LAST_MINUTE = PAYMENTS_OF_TWO_FACED - 1;

test.each<[name: string, asked: Asked, found: number]>([
  ['long ago', { paidFrom: at(1_000), paidTo: at(1_300) }, LIMIT],
  ['until long ago', { paidTo: at(290) }, LIMIT],
  ['in the last hour', { paidFrom: at(LAST_MINUTE - 59) }, 30],
  ['in a span that nothing was paid in', { paidFrom: at(-90), paidTo: at(-60) }, 0],
  ['long ago on one wallet', { ...paidHalf, paidFrom: at(1_000), paidTo: at(1_020) }, 10],
  ['with another status', { status: 'CANCELLED', paidFrom: at(10) }, 0],
])('payments paid %s are found without reading all of them', async (_, asked, found) => {
  sent.length = 0;
  expect((await list(TWO_FACED, asked)).payments).toHaveLength(found);
  const { readForNothing, scanned } = await explain(sent[0]!);
  expect(readForNothing).toBeLessThanOrEqual(OF_TWO_DAYS);
  expect(scanned).toEqual([]);
});

test('a payment that was paid long after its creation is found by its paid_at, in its place', async () => {
  const paidAt = at(20 * 24 * 60 + 0.5);
  const { rows } = await pool.query<{ payment_id: string }>(
    'update payment set paid_at = $2 where merchant_id = $1 and created_at = $3 returning payment_id',
    [TWO_FACED, paidAt, at(6)],
  );
  const { payments } = await list(TWO_FACED, { paidFrom: paidAt, paidTo: new Date(paidAt.getTime() + 1) });
  expect(payments.map(({ payment_id: id }) => id)).toEqual([rows[0]!.payment_id]);
});

test("a report reads only the index, and no other merchant's part", async () => {
  sent.length = 0;
  const span = { from: at(0), to: at(LAST_MINUTE), group: 'day', by: 'payment', limit: 401 } as const;
  await countPayments(recording(pool), TWO_FACED, span);
  const { blocks, scanned } = await explain(sent[0]!);
  // An entry has about 170 bytes of a block of 8 kB, which may be half full.
  expect(blocks).toBeLessThan(PAYMENTS_OF_TWO_FACED / 15);
  expect(scanned).not.toContain('payment');
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
  const readWarnings = () => Promise.resolve([[]]);
  const sources = { db: recording(pool), readTips, readWarnings, policy: createConfirmationPolicy([]) };
  const found = await readPublicPayments(sources, [rows[0]!.hash]);
  expect(found).toMatchObject([{ payment: { status } }]);
  const { searched } = await explain(sent[0]!);
  expect(searched === null ? searches : (searched['transfer'] ?? 0)).toBe(searches);
});

/** Passes on every statement, also of its connections, and records it. */
function recording<Real extends Pick<Pool, 'query'>>(real: Real): Real {
  return new Proxy(real, {
    get(target, name) {
      if (name === 'connect') return async () => recording(await pool.connect());
      if (name === 'query') {
        return (query: string | { text: string; values: unknown[] }, values?: unknown[]) => {
          sent.push(typeof query === 'string' ? { text: query, values: values ?? [] } : query);
          return target.query(query as string, values);
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
  'Actual Rows': number;
  'Actual Loops': number;
  'Index Searches'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
};

/** Runs a statement again and reports its cost. */
async function explain({ text, values }: (typeof sent)[number], db: Queryable = pool) {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  const nodes = nodesOf(plan);
  return {
    blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    readForNothing: nodes.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops'], 0),
    searched: searchesOf(nodes),
    /** Rows that the table's scans gave or dropped. */
    read: nodes.reduce(
      (sum, node) =>
        sum +
        (node['Relation Name'] === 'payment'
          ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
          : 0),
      0,
    ),
    scanned: nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name']] : [])).filter(hasRows),
  };
}

const hasRows = (table: string | undefined): boolean => table !== 'transfer_acceptance';

/** How often each table's indexes are searched; null on a server before 18, which doesn't count it. */
function searchesOf(nodes: readonly Plan[]): Record<string, number> | null {
  if (!nodes.some((node) => 'Index Searches' in node)) return null;
  const searches: Record<string, number> = {};
  for (const { 'Relation Name': table = '', 'Index Searches': count = 0 } of nodes)
    searches[table] = (searches[table] ?? 0) + count;
  return searches;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Few enough for one statement to end within the pool's time limit on a busy machine. */
const BATCH = 4_000;

/** Writes the payments as they would be after years of creating them, and the transfers that paid them. */
async function fill(): Promise<void> {
  const ofThisMerchant = `
    select '${MERCHANT}' as merchant_id, null as order_id, 'local' as network, '${MERCHANT}' as recipient, n, $3::timestamptz + n / ${OF_ONE_MOMENT} * interval '1 minute' as made,
           case when n % ${PAYMENTS / 4} = 7 then 'CHECKING'
                when n % ${PAYMENTS / 40} = 11 then 'PENDING'
                when n % ${PAYMENTS / 400} = 13 then 'CANCELLED'
                else 'PAID' end as status
      from generate_series($1::int, $2::int) as n`;
  const ofOthers = `
    select 'mer_other_' || n % 50 as merchant_id, null as order_id, 'local' as network, 'w' || n % 50 as recipient, n, $3::timestamptz + n / 5 * interval '1 minute' as made,
           (array['PENDING', 'CHECKING', 'CANCELLED', 'EXPIRED'])[1 + n / 50 % 4] as status
      from generate_series($1::int, $2::int) as n`;
  const ofTwoFaced = `
    select '${TWO_FACED}' as merchant_id, 'order ' || n / 3 as order_id, (array['local', 'other'])[1 + n % 2] as network,
           (array['wallet a', 'wallet b'])[1 + n % 2] as recipient, n,
           $3::timestamptz + n * interval '1 minute' as made, (array['PAID', 'CANCELLED'])[1 + n % 2] as status
      from generate_series($1::int, $2::int) as n`;
  await insert(ofTwoFaced, PAYMENTS_OF_TWO_FACED);
  await insert(ofThisMerchant, PAYMENTS);
  await insert(ofOthers, PAYMENTS_OF_OTHERS);
  // Like autovacuum: without it no index-only scan is possible.
  await pool.query('vacuum analyze payment');
  await pool.query('analyze transfer');
}

/** @param rows a select of the payments numbered from $1 to $2, the first of which was made at $3. */
async function insert(rows: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    await pool.query(
      `with made as (
         insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                              description, created_at, expires_at, paid_at, cancelled_at, expiry_check_at, order_id)
         select 'pay_' || md5(merchant_id || n), merchant_id, 't', sha256((merchant_id || n)::bytea), status, network, recipient,
                (n + 1)::text, n + 1, 'd', made, made + interval '30 minutes', case status when 'PAID' then made end,
                case status when 'CANCELLED' then made end, made, order_id
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
