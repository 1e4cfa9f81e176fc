import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { insertEvents, type NewEvent } from '../src/events/event.sql.ts';
import { makeLanesDueNow } from '../src/lanes/lane.sql.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 8 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('truncate event, delivery, lane').then(() => undefined));

const newEvent = (over: Partial<NewEvent> = {}): NewEvent => ({
  eventId: newId('evt'),
  paymentId: newId('pay'),
  merchantId: newId('mer'),
  body: Buffer.from('{"description":"naïve \\"☕\\""}'),
  ...over,
});

const insert = (events: readonly NewEvent[]): Promise<boolean> => transaction(pool, (tx) => insertEvents(tx, events));

async function storedEvents() {
  const { rows } = await pool.query<{ event_id: string; payment_id: string; body: Buffer }>(
    `select e.event_id, e.payment_id, e.body from event e join delivery d using (event_id, merchant_id)
      where d.status = 'pending' and d.next_attempt_at <= now() order by e.event_id`,
  );
  return rows;
}

describe('a batch of events', () => {
  test('is stored with its bytes and due immediately, and its lanes are due', async () => {
    const merchantId = newId('mer');
    const events = [newEvent({ merchantId }), newEvent(), newEvent({ merchantId })];
    expect(await insert(events)).toBe(true);
    const stored = await storedEvents();
    const expected = events.map((e) => ({ event_id: e.eventId, payment_id: e.paymentId, body: e.body }));
    expect(stored.toSorted(byPayment)).toEqual(expected.toSorted(byPayment));
    const { rows } = await pool.query('select merchant_id from lane where next_due_at <= now() order by merchant_id');
    expect(rows.map((row: { merchant_id: string }) => row.merchant_id)).toEqual(
      [...new Set(events.map((e) => e.merchantId))].toSorted(),
    );
  });

  const byPayment = (a: { payment_id: string }, b: { payment_id: string }) => (a.payment_id < b.payment_id ? -1 : 1);

  test('stores one event for each payment: the first one, or the one already stored', async () => {
    const old = newEvent();
    await insert([old]);
    const first = newEvent();
    const copies = [
      newEvent({ paymentId: first.paymentId, merchantId: first.merchantId }),
      newEvent({ paymentId: old.paymentId, merchantId: old.merchantId }),
    ];
    expect(await insert([first, ...copies])).toBe(true);
    expect((await storedEvents()).map((row) => row.event_id).toSorted()).toEqual(
      [old.eventId, first.eventId].toSorted(),
    );
    expect(await insert(copies)).toBe(false);
  });

  test('moves each lane forward to now, or to the time at which its open circuit may be probed, and never back', async () => {
    const lanes = [
      ['idle', 'null', 'null', 'now()'],
      ['later', `now() + interval '1 hour'`, 'null', 'now()'],
      ['earlier', `now() - interval '1 hour'`, 'null', `now() - interval '1 hour'`],
      ['open', 'null', `now() + interval '1 minute'`, `now() + interval '1 minute'`],
      [
        'open, and due after that',
        `now() + interval '1 hour'`,
        `now() + interval '1 minute'`,
        `now() + interval '1 minute'`,
      ],
      ['open until a second ago', `now() + interval '1 hour'`, `now() - interval '1 second'`, 'now()'],
    ] as const;
    const seen = await transaction(pool, async (tx) => {
      for (const [merchantId, nextDueAt, openUntil] of lanes) {
        await tx.query(
          `insert into lane (merchant_id, next_due_at, open_until, circuit_state)
           values ($1, ${nextDueAt}, ${openUntil}, case when ${openUntil} is null then 'closed' else 'open' end)`,
          [merchantId],
        );
      }
      await insertEvents(
        tx,
        lanes.map(([merchantId]) => newEvent({ merchantId })),
      );
      const seconds: [string, number][] = [];
      for (const [merchantId, , , expected] of lanes) {
        // In one transaction, so that now() does not change; with milliseconds, like a JavaScript Date.
        const { rows } = await tx.query<{ off_ms: number }>(
          `select round(extract(epoch from next_due_at - (${expected})) * 1000)::float8 as off_ms from lane where merchant_id = $1`,
          [merchantId],
        );
        seconds.push([merchantId, Math.abs(rows[0]?.off_ms ?? NaN)]);
      }
      return seconds;
    });
    for (const [merchantId, offMs] of seen) expect([merchantId, offMs <= 1]).toEqual([merchantId, true]);
  });

  test('does not deadlock with a batch of the same payments in opposite order', async () => {
    for (let round = 0; round < 10; round += 1) {
      const events = Array.from({ length: 1_000 }, () => newEvent());
      const copies = events.map(({ paymentId, merchantId }) => newEvent({ paymentId, merchantId }));
      expect(await triesOf([events, copies.toReversed()].map((batch) => (tx) => insertEvents(tx, batch)))).toBe(2);
    }
  });

  test('does not deadlock with a batch of the same merchants in opposite order', async () => {
    const merchantIds = Array.from({ length: 2_000 }, () => newId('mer'));
    for (let round = 0; round < 10; round += 1) {
      const orders = [merchantIds, merchantIds.toReversed()];
      expect(await triesOf(orders.map((order) => (tx) => makeLanesDueNow(tx, order)))).toBe(2);
      await pool.query(`update lane set next_due_at = null`);
    }
  });
});

/** Runs transactions concurrently. @returns how often they were started: a deadlock's victim runs again. */
async function triesOf(runs: readonly ((tx: Transaction) => Promise<unknown>)[]): Promise<number> {
  let tries = 0;
  const once = (run: (tx: Transaction) => Promise<unknown>) =>
    transaction(
      pool,
      async (tx) => {
        tries += 1;
        // Longer than a busy machine takes for one transaction, which the other one waits for.
        await tx.query(`set local statement_timeout = '30s'`);
        await run(tx);
      },
      { lockTimeoutMs: 30_000 },
    );
  await Promise.all(runs.map(once));
  return tries;
}
