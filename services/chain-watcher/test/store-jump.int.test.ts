import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { addressOf } from '@quittance/testkit/chain/samples.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { hasUnfinishedCreatedBefore, rememberClosed, rememberUnfinished } from '../src/watches/payment.sql.ts';
import { leaveToBackFill, needMoreThan } from '../src/watches/watch.sql.ts';

const network = 'local';
const at = (seconds: number) => new Date((1_700_000_000 + seconds) * 1000);

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('skipped blocks', () => {
  const stateOf = async (address: string) => {
    const { rows } = await pool.query<{ state: string; next: number | null; to: number | null; through: Date | null }>(
      `select state, backfill_next::float8 as next, backfill_to::float8 as to, ended_through as through from watch where address = $1`,
      [Buffer.from(address.slice(2), 'hex')],
    );
    return rows[0];
  };
  /** A watch in this state, from and until these seconds. */
  const watched = (address: string, [from, until]: [number, number], next: number | null = null) =>
    pool.query(
      `insert into watch (network, address, merchant_id, watched_from, watched_until, state, backfill_next, backfill_to)
       values ($1, $2, 'mer_1', $3, $4, case when $5::bigint is null then 'watching' else 'backfilling' end, $5, $5 + 10)`,
      [network, Buffer.from(address.slice(2), 'hex'), at(from), at(until), next],
    );

  test('are read for the wallets that need them, planned again for later watches, and ignored for ended ones', async () => {
    const [needs, behind, younger, ended] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)];
    const ahead = addressOf(5);
    await watched(needs, [0, 100]);
    await watched(behind, [0, 20], 5);
    // Read beyond the blocks that are certainly in the chain.
    await watched(ahead, [0, 20], 60);
    await watched(younger, [66, 9_000]);
    await watched(ended, [0, 49]);
    expect(await needMoreThan(pool, network, at(50), 3)).toBe(true);
    expect(await needMoreThan(pool, network, at(50), 4)).toBe(false);
    const gap = { from: 51, through: 900, scannedThrough: at(50), plannedFrom: at(65) };
    expect(await transaction(pool, (tx) => leaveToBackFill(tx, network, gap))).toBe(3);
    expect(await stateOf(needs)).toMatchObject({ state: 'backfilling', next: 51, to: 900 });
    expect(await stateOf(behind)).toMatchObject({ state: 'backfilling', next: 5, to: 900 });
    expect(await stateOf(ahead)).toMatchObject({ state: 'backfilling', next: 51, to: 900 });
    expect(await stateOf(younger)).toMatchObject({ state: 'new', next: null });
    expect(await stateOf(ended)).toMatchObject({ state: 'ended', through: at(50) });
  });
});

describe('an unfinished payment', () => {
  const created = (paymentId: string) =>
    transaction(pool, (tx) =>
      rememberUnfinished(tx, [{ payment_id: paymentId, network, created_at: at(10).toISOString() }]),
    );
  const closed = (paymentId: string) =>
    transaction(pool, (tx) => rememberClosed(tx, [{ payment_id: paymentId, network }]));
  const isAny = (before: Date, of = network) => hasUnfinishedCreatedBefore(pool, of, before);

  test('counts from its creation to its end, whichever message comes first', async () => {
    expect(await isAny(at(11))).toBe(false);
    await created('pay_1');
    expect([await isAny(at(11)), await isAny(at(10)), await isAny(at(11), 'tron')]).toEqual([true, false, false]);
    await closed('pay_1');
    await closed('pay_2');
    await created('pay_2');
    expect(await isAny(at(11))).toBe(false);
  });

  test('leaves no row forever', async () => {
    for (const paymentId of ['pay_3', 'pay_4']) await closed(paymentId);
    await created('pay_5');
    await pool.query(`update unfinished_payment set closed_at = closed_at - interval '2 days'`);
    await closed('pay_6');
    const { rows } = await pool.query('select payment_id from unfinished_payment order by 1');
    expect(rows).toEqual([{ payment_id: 'pay_5' }, { payment_id: 'pay_6' }]);
  });
});
