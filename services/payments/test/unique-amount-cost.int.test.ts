import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';

// The rows take a while to write. What is measured is blocks read, never time.

/** Of other prices on the same wallet, half of them unfinished; and as many of the price itself that closed more than a day ago. */
const PAYMENTS = 20_000;
/** For each of 99 amounts the blocks of one row and its share of an index, and a few to find where they begin. */
const MOST_BLOCKS = 2 * 99 + 40;

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 1 });
  await fill(`select n, 60000000 + n * 10000 as units, case when n % 2 = 0 then 'PENDING' else 'EXPIRED' end as status, '1 minute' as closed
                from generate_series(1, ${PAYMENTS}) as n`);
  await fill(`select n, 49900000 + 100 * (1 + n % 99) as units, 'EXPIRED' as status, '25 hours' as closed
                from generate_series(${PAYMENTS + 1}, ${2 * PAYMENTS}) as n`);
  await pool.query('vacuum analyze payment');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test('the choice of an amount reads what the 99 amounts of its price need, however many payments are on the wallet', async () => {
  expect(await blocksOfChoice()).toBeLessThanOrEqual(MOST_BLOCKS);
});

test('and no more with half of them unfinished, and half closed a minute ago', async () => {
  await fill(`select n, 49900000 + 100 * (n - 90000) as units, case when n % 2 = 0 then 'PENDING' else 'EXPIRED' end as status, '1 minute' as closed
                from generate_series(90001, 90099) as n`);
  expect(await blocksOfChoice()).toBeLessThanOrEqual(MOST_BLOCKS);
});

const fill = (rows: string) =>
  pool.query(
    `insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                          requested_amount, description, created_at, expires_at, expiry_check_at)
     select 'pay_' || n, 'mer_1', n::text, sha256(n::text::bytea), status, 'local', 'wallet', units::text, units, '1', 'tea',
            now() - closed::interval - interval '30 minutes', now() - closed::interval, now()
       from (${rows}) as wanted`,
  );

/** Of a session that has planned before, as every one soon has. */
async function blocksOfChoice(): Promise<number> {
  const choose = `choose_unique_amount('local', 'wallet', 49900000)`;
  for (let time = 0; time < 8; time += 1) await pool.query(`select ${choose}`);
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, format json) select ${choose}`,
  );
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}
