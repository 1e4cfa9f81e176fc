import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { noticeLaneOf } from '../src/lanes/lane.sql.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

// It measures read blocks, never time, in a session whose plans were made while the tables were empty.

/** Payments of one merchant, each with its PAID event and three sent notices: first this many, then that many. */
const FEW = 2_000;
const MANY = 12_000;
/** Each look-up reads at most one more level of its index. A scan of the added events would read several hundred blocks. */
const MORE_BLOCKS = 150;
/** Pending notices that must not follow PAID, as processes of 0.2.0 leave them. */
const NOTICES = 4;

let world: StoreWorld;
let merchantId: string;
beforeAll(async () => {
  world = await startStoreWorld({ connections: 1 });
  merchantId = await world.addMerchant();
});
afterAll(() => world.stop());

test('claiming, settling and withdrawing notices, and storing PAID, read no more rows with more past payments', async () => {
  const { payments, notices } = await addOvertaken();
  const paces = JSON.stringify([{ pace: 'quick', lanes: 16, limit: 8, most: 8 }]);
  const outcomes = notices.map((event_id) => ({
    ...{ event_id, merchant_id: noticeLaneOf(merchantId), lease_id: '00000000-0000-4000-8000-000000000000', cycle: 1 },
    ...{ n: 1, key_id: 'whk', started_at: '2026-03-14T09:30:00Z', duration_ms: 1, pace: 'quick', decides: true },
  }));
  const measure = async () => ({
    claim: await blocksOf(`select * from claim_deliveries(100, '${paces}', 64, '{}', '{}', gen_random_uuid(), 45)`),
    settlement: await blocksOf(
      `select settle_attempts('${JSON.stringify(outcomes)}', '{pending,failed}', '{pending}', 50, 10, 60, 8)`,
    ),
    takingBack: await blocksOf(`select take_back_notices('{${payments.join(',')}}')`),
    paid: await blocksOfPaid(),
  });
  for (let time = 0; time < 6; time += 1) await measure();
  await addPast(1, FEW);
  const before = await measure();
  await addPast(FEW + 1, MANY);
  const more = Object.entries(await measure()).map(([name, blocks]) => [
    name,
    blocks - before[name as keyof typeof before],
  ]);
  expect(more.filter(([, blocks]) => Number(blocks) > MORE_BLOCKS)).toEqual([]);
});

async function blocksOfPaid(): Promise<number> {
  const paymentId = newId('pay');
  await world.addNotice(merchantId, { paymentId });
  const before = await blocksReadSoFar();
  await world.addEvent(merchantId, paymentId);
  const blocks = (await blocksReadSoFar()) - before;
  // It would be claimed, and delay the notices.
  await world.pool.query(`delete from delivery where event_id in (select event_id from event where payment_id = $1)`, [
    paymentId,
  ]);
  return blocks;
}

/** Blocks that a statement reads, including functions; it is rolled back. */
async function blocksOf(statement: string): Promise<number> {
  return transaction(world.pool, async (tx) => {
    await tx.query('savepoint before');
    const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${statement}`,
    );
    await tx.query('rollback to before');
    const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
    return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
  });
}

async function blocksReadSoFar(): Promise<number> {
  await world.pool.query('select pg_stat_force_next_flush()');
  const { rows } = await world.pool.query<{ blocks: number }>(
    `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::int as blocks from pg_statio_user_tables`,
  );
  return rows[0]!.blocks;
}

async function addOvertaken(): Promise<{ payments: string[]; notices: string[] }> {
  const payments = Array.from({ length: NOTICES }, () => newId('pay'));
  const notices: string[] = [];
  for (const paymentId of payments) notices.push(await world.addNotice(merchantId, { paymentId }));
  await world.pool.query(
    `insert into event (event_id, payment_id, merchant_id, body) select 'paid of ' || p, p, $1, '' from unnest($2::text[]) p`,
    [merchantId, payments],
  );
  await addDelivered();
  return { payments, notices };
}

async function addPast(from: number, to: number): Promise<void> {
  const payments = `generate_series($2::int, $3::int) as n`;
  await world.pool.query(
    `insert into event (event_id, payment_id, merchant_id, body) select 'paid' || n, 'pay' || n, $1, '' from ${payments}`,
    [merchantId, from, to],
  );
  await world.pool.query(
    `insert into event (event_id, notice_payment_id, merchant_id, body, event_type, occurrence)
     select type || n, 'pay' || n, $1, '', type, type || n
       from ${payments}, unnest('{payment.checking,payment.expired,payment.cancelled}'::text[]) as type`,
    [merchantId, from, to],
  );
  await addDelivered();
  await world.pool.query('vacuum analyze event, delivery');
}

const addDelivered = () =>
  world.pool.query(
    `insert into delivery (event_id, merchant_id, status, delivered_at)
     select event_id, merchant_id || case when event_type is null then '' else ':notices' end, 'delivered', now() from event
     on conflict do nothing`,
  );
