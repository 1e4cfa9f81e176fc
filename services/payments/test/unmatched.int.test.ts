import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readPlace, writePlace, type UnmatchedPlace } from '@quittance/contracts/http/payments/unmatched.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { listUnmatched } from '../src/finding/unmatched.sql.ts';
import { newWallet } from './fixtures.ts';
import { insertPast, pastPayment } from './finding-fixtures.ts';
import { insertUnmatched, pastUnmatched } from './unmatched-fixtures.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 1 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const STARTED = Date.parse('2026-01-05T00:00:00Z');
const at = (second: number): Date => new Date(STARTED + second * 1000);

/** Reads all pages, as a caller does: by the text of the cursor. */
async function walk(merchantId: string | null) {
  const pages: string[][] = [];
  for (let after: UnmatchedPlace | null = null; ;) {
    const { rows, next } = await listUnmatched(pool, merchantId, after);
    pages.push(rows.map(({ transaction_id: id }) => id));
    if (next === null) return pages;
    after = readPlace(writePlace(next));
  }
}

test('unmatched transfers are listed newest first, page by page, none twice and none left out', async () => {
  const merchantId = newId('mer');
  const payment = pastPayment({ merchant_id: merchantId, created_at: at(0), status: 'EXPIRED', order_id: 'order 7' });
  await insertPast(pool, [payment]);
  // Twenty of each block, so that pages end in the middle of one.
  const transfers = Array.from({ length: 120 }, (_, n) =>
    pastUnmatched({
      ...{ merchant_id: merchantId, block_timestamp: at(Math.floor(n / 20)), transaction_event_index: n % 3 },
      ...(n === 119 && { related_payment_id: payment.payment_id, reason: 'late' }),
    }),
  );
  await insertUnmatched(pool, [
    ...transfers,
    pastUnmatched({ merchant_id: merchantId, block_timestamp: at(9), phase: 'retracted' }),
  ]);
  const pages = await walk(null);
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
  const sorted = transfers.toSorted(
    (a, b) =>
      b.block_timestamp.getTime() - a.block_timestamp.getTime() || (a.transaction_id < b.transaction_id ? 1 : -1),
  );
  expect(pages.flat()).toEqual(sorted.map(({ transaction_id: id }) => id));
  const { rows } = await listUnmatched(pool, merchantId, null);
  expect(rows.find(({ reason }) => reason === 'late')).toMatchObject({
    merchant_id: merchantId,
    related_payment: { payment_id: payment.payment_id, status: 'EXPIRED', amount: '10.5', order_id: 'order 7' },
  });
});

test("a merchant's are those meant for its payments, on any wallet, and those to a wallet that it has proven", async () => {
  const [first, second] = [newId('mer'), newId('mer')];
  const payment = pastPayment({ merchant_id: second, created_at: at(100) });
  const proven = newWallet();
  await insertPast(pool, [payment]);
  await pool.query('insert into wallet (address, merchant_id, bound_at, proven_at) values ($1, $2, $3, $3)', [
    proven,
    second,
    at(50),
  ]);
  const watchedFor = { merchant_id: first, block_timestamp: at(101) };
  const meant = pastUnmatched({ ...watchedFor, related_payment_id: payment.payment_id, reason: 'underpaid' });
  const toProven = pastUnmatched({ ...watchedFor, recipient: proven, block_timestamp: at(102) });
  const own = pastUnmatched({ ...watchedFor, block_timestamp: at(103) });
  await insertUnmatched(pool, [meant, toProven, own]);
  expect((await walk(second)).flat()).toEqual([toProven.transaction_id, meant.transaction_id]);
  expect((await walk(first)).flat()).toEqual([own.transaction_id]);
  expect((await walk(newId('mer'))).flat()).toEqual([]);
});

test("a merchant's are found behind thousands of others', and every page reads a bounded number", async () => {
  const [busy, quiet] = [newId('mer'), newId('mer')];
  const old = pastUnmatched({ merchant_id: quiet, block_timestamp: at(200) });
  const dust = Array.from({ length: 5_001 }, (_, n) =>
    pastUnmatched({ merchant_id: busy, block_timestamp: at(300 + Math.floor(n / 10)) }),
  );
  await insertUnmatched(pool, [old, ...dust]);
  expect(await walk(quiet)).toEqual([[], [old.transaction_id]]);
  // It stopped at another merchant's transfer, which the cursor does not name.
  const { next } = await listUnmatched(pool, quiet, null);
  expect(dust.map(({ transaction_id: id }) => id)).not.toContain(next?.transactionId);
  expect(next).toEqual({ blockTimestamp: at(300), transactionId: '0'.repeat(64), index: 0, network: '-' });

  // In a ledger most transfers pay something.
  await pool.query(
    `insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                           block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, observed_at)
     select network, md5(n::text), 0, 1, 'retracted', merchant_id, 1, 'b', block_timestamp, 's', recipient, 1, 6, 2, 2, observed_at
       from (select * from transfer limit 1) one, generate_series(1, 40000) n`,
  );
  await pool.query('vacuum analyze transfer');
  // Without an index in this order, all five thousand would be read.
  expect(await blocksOf(null)).toBeLessThan(51 * 4 + 20);
  // For each of the five thousand, the owner of the payment and of the wallet.
  expect(await blocksOf(quiet)).toBeLessThan(5_000 * 8);
});

/** What the first page reads, in blocks. */
async function blocksOf(merchantId: string | null): Promise<number> {
  const sent: [string, unknown[]][] = [];
  const recording = {
    query: (text: string, values: unknown[]) => (sent.push([text, values]), pool.query(text, values)),
  };
  await listUnmatched(recording, merchantId, null);
  let blocks = 0;
  for (const [text, values] of sent) {
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    blocks += rows[0]!['QUERY PLAN'][0].Plan['Shared Hit Blocks'];
  }
  return blocks;
}

test.each(['', 'x', writePlace({ blockTimestamp: at(0), transactionId: 'g', index: 0, network: 'local' })])(
  '%j is no valid cursor',
  (text) => {
    expect(readPlace(text)).toBeNull();
  },
);
