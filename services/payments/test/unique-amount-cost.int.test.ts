import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';

// Writing the rows takes a while. The test measures blocks read, never time.

/** Of other prices on the same wallet, half of them unfinished; and as many of the price itself that closed more than a day ago. */
const PAYMENTS = 20_000;
/** A look-up descends an index, and from there reads one row. */
const BLOCKS_OF_LOOK_UP = 4;
/** Of one amount, and of the bare price. */
const LOOK_UPS_OF_AMOUNT = 3;
const LOOK_UP_OF_PRICE = 1;

const CHOICE = `choose_unique_amount('local', 'wallet', 49900000)`;

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

test('the choice of an amount reads what one amount needs, however many payments are on the wallet', async () => {
  expect(await blocksOf(CHOICE)).toBeLessThanOrEqual(BLOCKS_OF_LOOK_UP * (LOOK_UPS_OF_AMOUNT + LOOK_UP_OF_PRICE));
});

test('and what the 99 amounts of its price need, with half of them unfinished, and half closed a minute ago', async () => {
  await fill(`select n, 49900000 + 100 * (n - 90000) as units, case when n % 2 = 0 then 'PENDING' else 'EXPIRED' end as status, '1 minute' as closed
                from generate_series(90001, 90099) as n`);
  // Then which of them are unfinished, and one amount with six decimals.
  const most = BLOCKS_OF_LOOK_UP * (LOOK_UPS_OF_AMOUNT * 100 + LOOK_UP_OF_PRICE + 100);
  expect(await blocksOf(CHOICE)).toBeLessThanOrEqual(most);
});

test('a plain payment of a price has one look-up more, however many unique amounts of other prices are unfinished', async () => {
  expect(await blocksOf(`keep_bare_price('local', 'wallet', 39900000)`)).toBeLessThanOrEqual(BLOCKS_OF_LOOK_UP);
  expect(await blocksOf(`keep_bare_price('local', 'wallet', 49900000)`)).toBeLessThanOrEqual(BLOCKS_OF_LOOK_UP);
});

const fill = (rows: string) =>
  pool.query(
    `insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                          requested_amount, description, created_at, expires_at, expiry_check_at)
     select 'pay_' || n, 'mer_1', n::text, sha256(n::text::bytea), status, 'local', 'wallet', units::text, units, '1', 'tea',
            now() - closed::interval - interval '30 minutes', now() - closed::interval, now()
       from (${rows}) as wanted`,
  );

/** In a session that has planned before, as most have. */
async function blocksOf(call: string): Promise<number> {
  for (let time = 0; time < 8; time += 1) await pool.query(`select ${call}`);
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, format json) select ${call}`,
  );
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}
