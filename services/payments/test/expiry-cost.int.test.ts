import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type Transaction, transaction } from '@quittance/postgres/transaction.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { migrations, schema } from '../src/migrations.ts';
import { claimOverdue, measureExpiryLag, type UnfinishedBound } from '../src/expiry/expiry.sql.ts';

const network = 'local';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  db = testPool({ url: database.url, schema, max: 4 });
  await db.query('alter table payment set (autovacuum_enabled = off)');
});
afterAll(async () => {
  await db.end();
  await database.drop();
});
beforeEach(() => db.query('truncate payment cascade'));

/** Payments, numbered from `first` on, that expired this many minutes ago. */
const insert = (minutesAgo: number, first: number, count = 1) =>
  db.query(
    `insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                          created_at, expires_at, expiry_check_at)
     select 'pay_' || n, 'mer_1', n::text, sha256(n::text::bytea), $1, '0xa', '1', n, 'Two tickets',
            now() - interval '1 day', now() - $2 * interval '1 minute', now() - interval '1 second'
       from generate_series($3::int, $3::int + $4::int - 1) as n`,
    [network, minutesAgo, first, count],
  );

const end = (...numbers: number[]) =>
  db.query(`update payment set status = 'EXPIRED' where amount_units = any($1)`, [numbers]);

const measure = (bound: UnfinishedBound | null) => transaction(db, (tx) => measureExpiryLag(tx, network, bound));
const claim = (tx: Pool | Transaction, bound: UnfinishedBound, limit = 100) =>
  claimOverdue(tx, network, { bound, expiredBy: new Date(), limit, leaseMs: 60_000 });
const idsOf = (payments: readonly { payment_id: string }[]) => payments.map(({ payment_id: id }) => id);

/** How many entries of the index of unfinished payments are read, including those of payments that have ended. */
async function entriesRead<T>(run: (tx: Transaction) => Promise<T>): Promise<{ result: T; entries: bigint }> {
  return transaction(db, async (tx) => {
    const count = async () => {
      const { rows } = await tx.query<{ read: bigint }>(
        `select pg_stat_get_xact_tuples_returned('payment_overdue'::regclass) as read`,
      );
      return rows[0]!.read;
    };
    const before = await count();
    const result = await run(tx);
    return { result, entries: (await count()) - before };
  });
}

test('ended payments between others are passed once, while vacuum may not remove them', async () => {
  const ended = 3_000;
  await insert(600, 1);
  await insert(300, 1_000, ended);
  await insert(0, 10_000);
  const reader = await db.connect();
  try {
    await reader.query('begin isolation level repeatable read; set local idle_in_transaction_session_timeout = 0');
    await reader.query('select from payment limit 1');
    await db.query(`update payment set status = 'EXPIRED' where amount_units between 1000 and 9999`);
    const { result, entries } = await entriesRead((tx) => measureExpiryLag(tx, network, null));
    expect(result.bound.overdue).toEqual(['pay_1']);
    expect(Number(entries)).toBeGreaterThan(ended);
    const again = await entriesRead((tx) => measureExpiryLag(tx, network, result.bound));
    expect(again.result.lag).toBeGreaterThan(599 * 60);
    const claimed = await entriesRead((tx) => claim(tx, again.result.bound));
    expect(idsOf(claimed.result)).toEqual(['pay_1', 'pay_10000']);
    expect(Number(again.entries + claimed.entries)).toBeLessThan(100);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
});

test('none is forgotten when more are overdue than are remembered, whichever end first', async () => {
  await insert(90, 1, 150);
  await insert(80, 151, 150);
  await insert(0, 301, 3);
  const everybody = Array.from({ length: 303 }, (_, index) => `pay_${String(index + 1)}`);
  let { bound } = await measure(null);
  expect(bound.overdue).toHaveLength(200);
  const claimedAll = async (): Promise<string[]> => {
    const claimed: string[] = [];
    for (let some = idsOf(await claim(db, bound)); some.length > 0; some = idsOf(await claim(db, bound)))
      claimed.push(...some);
    await db.query(`update payment set expiry_check_at = now() - interval '1 second'`);
    return claimed;
  };
  expect(new Set(await claimedAll())).toEqual(new Set(everybody));
  await end(1, 2, 3, 200, 300);
  const ended = ['pay_1', 'pay_2', 'pay_3', 'pay_200', 'pay_300'];
  for (let round = 0; round < 3; round += 1) ({ bound } = await measure(bound));
  const left = await claimedAll();
  expect(left).toHaveLength(everybody.length - ended.length);
  expect(new Set(left)).toEqual(new Set(everybody.filter((id) => !ended.includes(id))));
  await db.query(`update payment set status = 'EXPIRED' where expires_at < now() - interval '1 minute'`);
  ({ bound } = await measure(bound));
  expect(bound.overdue).toEqual([]);
  await insert(0.5, 1_000);
  expect(new Set(await claimedAll())).toEqual(new Set(['pay_301', 'pay_302', 'pay_303', 'pay_1000']));
});

test('the lag is that of the longest overdue, remembered or not, and 0 without one', async () => {
  expect((await measure(null)).lag).toBe(0);
  await insert(-10, 1);
  expect((await measure(null)).lag).toBe(0);
  await insert(0.5, 2);
  const recent = await measure(null);
  expect({ ...recent, lag: Math.floor(recent.lag / 10) }).toMatchObject({ lag: 3, bound: { overdue: [] } });
  await insert(50, 3);
  const { bound, lag } = await measure(null);
  expect(Math.floor(lag / 60)).toBe(50);
  expect(Math.floor((await measure(bound)).lag / 60)).toBe(50);
  await end(3);
  expect((await measure(bound)).lag).toBeLessThan(60);
});

test('vacuum clears the index of the few that ended, also where they are on few pages of a large table', async () => {
  const expireAll = () => db.query(`update payment set status = 'EXPIRED' where status = 'PENDING'`);
  // A concurrent reader, such as an analyze of another table, keeps rows that have just died.
  const vacuum = () =>
    eventually(async () => {
      await db.query('vacuum payment');
      const { rows } = await db.query(`select n_dead_tup from pg_stat_user_tables where relname = 'payment'`);
      expect(rows).toEqual([{ n_dead_tup: 0n }]);
    });
  for (let first = 1; first <= 10_000; first += 1_000) {
    await insert(600, first, 1_000);
    await expireAll();
  }
  await vacuum();
  await insert(500, 10_001, 50);
  await expireAll();
  await vacuum();
  const { entries } = await entriesRead((tx) => measureExpiryLag(tx, network, null));
  expect(entries).toBe(0n);
});
