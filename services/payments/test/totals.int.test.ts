import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { createDayCounts, createMerchantTotals, createTotals } from '../src/reports/totals.ts';
import { insertPast, pastPayment } from './finding-fixtures.ts';
import { insertUnmatched, pastUnmatched } from './unmatched-fixtures.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 2 });
});
afterEach(() => pool.query('truncate payment, transfer, transfer_acceptance, incident, payment_cancellation'));
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const at = (text: string): Date => new Date(`${text}Z`);
const span = { from: at('2026-03-01T00:00'), to: at('2026-03-03T00:00') };
const on = (day: string, more: object = {}) => ({
  ...{ day, created: 0, paid: 0, paid_amount: '0', unmatched: 0, late: 0 },
  ...more,
});
/** The clock shows noon of the third. */
const noon = () => at('2026-03-03T12:00');
const totalsAtNoon = (db: Pool) => createTotals(db, createDayCounts(db, noon));

test('the payments of all merchants are counted on the day on which each thing happened, as the merchants see it', async () => {
  const [one, two] = [newId('mer'), newId('mer')];
  const paidLater = pastPayment({
    ...{ merchant_id: one, created_at: at('2026-03-01T23:50'), status: 'PAID', paid_at: at('2026-03-02T00:05') },
  });
  // Created before the span, and paid in it by an operator's decision.
  const accepted = pastPayment({
    ...{ merchant_id: two, created_at: at('2026-02-10T10:00'), status: 'PAID', paid_at: at('2026-03-02T09:00') },
  });
  await insertPast(
    pool,
    [
      paidLater,
      accepted,
      pastPayment({ merchant_id: two, created_at: at('2026-03-03T11:59') }),
      pastPayment({ merchant_id: two, created_at: at('2026-02-28T23:59'), status: 'EXPIRED' }),
    ],
    [
      {
        ...{ payment: accepted, transaction_id: 'a'.repeat(64), amount_units: '10250000', decimals: 6, accepted: true },
      },
    ],
  );
  await insertUnmatched(pool, [
    pastUnmatched({ merchant_id: one, block_timestamp: at('2026-03-01T00:00'), reason: 'late' }),
    pastUnmatched({ merchant_id: two, block_timestamp: at('2026-03-01T23:59'), reason: 'underpaid' }),
    pastUnmatched({ merchant_id: two, block_timestamp: at('2026-03-04T00:00') }),
  ]);
  expect(await totalsAtNoon(pool)(span)).toEqual({
    days: [
      on('2026-03-01', { created: 1, unmatched: 2, late: 1 }),
      on('2026-03-02', { paid: 2, paid_amount: '20.75' }),
      on('2026-03-03', { created: 1 }),
    ],
    together: { created: 2, paid: 2, paid_amount: '20.75', unmatched: 2, late: 1 },
    open: 1,
  });
});

test('archived payments still count', async () => {
  await pool.query(
    `insert into archived_day (merchant_id, network, day, created, paid, paid_units, expired, cancelled)
     values ('mer_1', 'local', '2026-03-02', 5, 3, 4500000, 0, 0)`,
  );
  const { days } = await totalsAtNoon(pool)(span);
  expect(days[1]).toEqual(on('2026-03-02', { created: 5, paid: 3, paid_amount: '4.5' }));
  await pool.query('truncate archived_day');
});

test('a past day is counted once, and today each time', async () => {
  const id = newId('mer');
  const asked: unknown[][] = [];
  const recording = {
    query: (text: string, values: unknown[]) => {
      if (text.includes('archived_day')) asked.push(values.slice(1, 3));
      return pool.query(text, values);
    },
  } as unknown as Pool;
  const totals = totalsAtNoon(recording);
  await totals(span);
  expect(asked).toEqual([
    [at('2026-03-01T00:00'), at('2026-03-03T00:00')],
    [at('2026-03-03T00:00'), at('2026-03-04T00:00')],
  ]);
  await insertPast(pool, [pastPayment({ merchant_id: id, created_at: at('2026-03-03T11:00') })]);
  expect((await totals(span)).days[2]).toEqual(on('2026-03-03', { created: 1 }));
  expect(asked.slice(2)).toEqual([[at('2026-03-03T00:00'), at('2026-03-04T00:00')]]);
});

test('a span of more than a month, or that ends before it begins, is refused', async () => {
  const totals = totalsAtNoon(pool);
  for (const to of ['2026-02-28T00:00', '2026-04-01T00:00'])
    await expect(totals({ from: span.from, to: at(to) })).rejects.toMatchObject({ status: 422 });
});

test('the totals of a merchant are those of its own payments, and each past day is counted once', async () => {
  const [one, two] = [newId('mer'), newId('mer')];
  const paid = (merchant_id: string, day: string) =>
    pastPayment({ merchant_id, created_at: at(`${day}T10:00`), status: 'PAID', paid_at: at(`${day}T10:05`) });
  await insertPast(pool, [
    paid(one, '2026-03-01'),
    paid(one, '2026-03-03'),
    ...[paid(two, '2026-03-01'), paid(two, '2026-03-02')],
  ]);
  const totals = createMerchantTotals(createDayCounts(pool, noon));
  const own = (day: string, more: object = {}) => ({ ...{ day, created: 0, paid: 0, paid_amount: '0' }, ...more });
  const busy = { created: 1, paid: 1, paid_amount: '10.5' };
  const expected = {
    days: [own('2026-03-01', busy), own('2026-03-02'), own('2026-03-03', busy)],
    together: { created: 2, paid: 2, paid_amount: '21' },
  };
  expect(await totals(one, span)).toEqual(expected);
  expect((await totals(two, span)).together).toEqual(expected.together);
  await pool.query('delete from payment where merchant_id = $1 and created_at < $2', [one, at('2026-03-02T00:00')]);
  expect(await totals(one, span)).toEqual(expected);
});
