import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { migrations, schema } from '../src/migrations.ts';
import { keepReplyPartitions } from '../src/payment/saved-replies.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newKey, newMerchant, newPayment, newWallet } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

let payments: PaymentsUnderTest;
/** A database without a running service, so that only the test sweeps. */
let quiet: TestDatabase;
let sweeper: Pool;
beforeAll(async () => {
  [payments, quiet] = await Promise.all([startPayments({ replicas: 2 }), testDatabase({ schema, migrations })]);
  sweeper = testPool({ url: quiet.url, schema, max: 8 });
});
afterAll(async () => {
  await sweeper.end();
  await Promise.all([quiet.drop(), payments.close()]);
});

const monthOf = (date: Date): string => date.toISOString().slice(0, 7).replace('-', '_');
const addMonths = (date: Date, months: number): Date =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
const addDays = (date: Date, days: number): Date => new Date(date.getTime() + days * 86_400_000);

async function makePartition(db: Pool, month: Date): Promise<string> {
  const name = `idempotent_reply_${monthOf(month)}`;
  const [from, to] = [addMonths(month, 0), addMonths(month, 1)].map((date) => date.toISOString());
  await db.query(
    `create table if not exists ${name} partition of idempotent_reply for values from ('${from}') to ('${to}')`,
  );
  return name;
}

async function partitions(db: Pool): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
      where inhparent = 'idempotent_reply'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Makes the reply to a key this old, as if its 201 had been answered then. */
const ageReply = (key: string, age: string) =>
  payments.db.query('update idempotent_reply set created_at = now() - $2::interval where idempotency_key = $1', [
    key,
    age,
  ]);

test.each(['29 days', '29 days 23:59:30'])('a reply of %s is replayed to the byte', async (age) => {
  for (const back of [-1, -2]) await makePartition(payments.db, addMonths(new Date(), back));
  const merchantId = await newMerchant(payments);
  const order = { key: newKey(), wallet: newWallet() };
  const first = await create(payments, merchantId, order);
  await ageReply(order.key, age);
  const replay = await create(payments, merchantId, order);
  expect([replay.status, replay.headers.get('idempotency-replayed'), replay.text]).toEqual([201, 'true', first.text]);
  expect((await create(payments, merchantId, { ...order, amount: '11' })).status).toBe(409);
});

test.each(['30 days', '45 days'])(
  'after %s the key is free: it makes a new payment, which is then replayed',
  async (age) => {
    for (const back of [-1, -2]) await makePartition(payments.db, addMonths(new Date(), back));
    const order = { key: newKey(), wallet: newWallet() };
    const { merchantId, payment: old, cancel } = await newPayment(payments, order);
    await cancel();
    await ageReply(order.key, age);
    // Not even another body conflicts any more.
    const again = await create(payments, merchantId, { ...order, amount: '11' });
    expect([again.status, again.headers.has('idempotency-replayed')]).toEqual([201, false]);
    expect(again.json.payment_id).not.toBe(old.payment_id);
    expect((await create(payments, merchantId, { ...order, amount: '11' })).text).toBe(again.text);
    const { rows } = await payments.db.query('select used_lifetime from gate where merchant_id = $1', [merchantId]);
    expect(rows).toEqual([{ used_lifetime: 2 }]);
  },
);

test('many replicas may drop old replies at once', async () => {
  const old: string[] = [];
  for (const month of ['2020-01', '2020-02', '2020-03'])
    old.push(await makePartition(sweeper, new Date(`${month}-01`)));
  const ahead = `idempotent_reply_${monthOf(addMonths(new Date(), 2))}`;
  await sweeper.query(`drop table ${ahead}`);
  const dropped = await Promise.all(Array.from({ length: 8 }, () => keepReplyPartitions(sweeper)));
  expect(dropped.filter((one) => one)).toHaveLength(old.length);
  const left = await partitions(sweeper);
  expect(left.filter((name) => old.includes(name))).toEqual([]);
  expect(left).toContain(ahead);
});

test('during a long read, the sweep of replies makes new partitions, keeps the old month, and fails no creation', async () => {
  const old = await makePartition(payments.db, new Date('2020-01-01'));
  const ahead = `idempotent_reply_${monthOf(addMonths(new Date(), 2))}`;
  await payments.db.query(`drop table ${ahead}`);
  const merchants = await Promise.all(Array.from({ length: 4 }, () => newMerchant(payments)));
  const reader = await payments.db.connect();
  const sweeps = { wanted: true, done: 0 };
  const sweep = async (): Promise<void> => {
    while (sweeps.wanted) {
      expect(await keepReplyPartitions(payments.db)).toBe(false);
      sweeps.done += 1;
    }
  };
  let sweeping = Promise.resolve();
  try {
    // Like a backup: it has read every reply, and its transaction stays open.
    await reader.query('begin; set local idle_in_transaction_session_timeout = 0');
    await reader.query('select count(*) from idempotent_reply');
    sweeping = sweep();
    // Awaited at the end; until then it must not count as an unhandled rejection.
    sweeping.catch(() => undefined);
    const answers = [];
    for (let round = 0; round < 10; round += 1) {
      answers.push(...(await Promise.all(merchants.map((id) => create(payments, id, {}, { once: true })))));
    }
    // Some may be too slow on a busy machine; behind a sweep that waits for the reader nearly all would be.
    const created = answers.filter(({ status }) => status === 201).length;
    expect(created).toBeGreaterThan(0.3 * answers.length);
    await eventually(() => expect(sweeps.done).toBeGreaterThan(3));
    expect(await partitions(payments.db)).toEqual(expect.arrayContaining([old, ahead]));
  } finally {
    sweeps.wanted = false;
    await sweeping.finally(() => reader.release(true));
  }
  await eventually(async () => expect(await keepReplyPartitions(payments.db)).toBe(true));
  expect(await partitions(payments.db)).not.toContain(old);
});

test('day after day, the sweep keeps every reply that may be replayed, has partitions for two months, and drops whole months', async () => {
  const client = await sweeper.connect();
  try {
    // The clock of this one session can be set: see creation-midnight.long.int.test.ts.
    await client.query(
      `create function now() returns timestamptz language sql stable return current_setting('test.now')::timestamptz`,
    );
    await client.query(`set search_path = ${schema}, pg_catalog`);
    const first = new Date();
    const answered: Date[] = [];
    for (let day = 0; day < 420; day += 1) {
      const now = addDays(first, day);
      await client.query(`select set_config('test.now', $1, false)`, [now.toISOString()]);
      while (await keepReplyPartitions(client));
      const names = new Set(await partitions(sweeper));
      for (const ahead of [0, 1, 2]) expect(names).toContain(`idempotent_reply_${monthOf(addMonths(now, ahead))}`);
      await client.query(
        `insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body) values ('mer', $1, $2, '', '')`,
        [String(day), now],
      );
      answered.push(now);
      // At most two months behind: the one that lasts, and the one in which the youngest of its replies turned 31 days old.
      expect(names.size).toBeLessThanOrEqual(5);
      if (day % 7 === 0) {
        const { rows } = await client.query<{ day: string }>('select idempotency_key as day from idempotent_reply');
        const kept = new Set(rows.map((row) => Number(row.day)));
        const due = answered
          .map((_, position) => position)
          .filter((position) => addDays(answered[position]!, 31) > now);
        expect(due.filter((position) => !kept.has(position))).toEqual([]);
      }
    }
  } finally {
    client.release(true);
  }
});
