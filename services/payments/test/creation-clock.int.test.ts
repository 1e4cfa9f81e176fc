import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import type { Creation } from '../src/payment/creation-rule.ts';
import { decide, newCreation, newGate, paymentIdOf } from './creation-rows.ts';
import { type Clock, steerable, takeClock } from './model/clock.ts';

let database: TestDatabase;
let db: Pool;
let clock: Clock;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  db = testPool({ url: steerable(database.url, schema), schema, max: 1 });
  clock = await takeClock(db, schema);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** Noon of a day that has a partition for its replies. */
const noon = new Date().setUTCHours(12, 0, 0, 0);

type Written = { created_at: Date; expires_at: Date; reply: string; message: string; replied_at: Date };

/** Creates a payment at a time of the database, and moves it out of the way of the next one. */
async function createAt(creation: Creation, moment: number, alone = true): Promise<Written> {
  await clock.set(moment);
  const [result] = await decide(db, [creation], alone);
  const id = paymentIdOf(result);
  const { rows } = await db.query<Written>(
    `select p.created_at, p.expires_at, convert_from(r.body, 'UTF8') as reply, r.created_at as replied_at, o.body as message
       from payment p, idempotent_reply r, outbox o
      where p.payment_id = $1 and r.idempotency_key = $2 and o.body::json ->> 'payment_id' = $1`,
    [id, creation.idempotency_key],
  );
  await db.query(
    `update payment set status = 'CANCELLED', cancelled_at = greatest(created_at, $2) where payment_id = $1`,
    [id, new Date(moment)],
  );
  return rows[0]!;
}

/** The payments that are written when these begin one after the other in one slot, at these milliseconds from noon. */
async function inSlot(first: number, second: number, alone = true) {
  const merchant = await newGate(db);
  const one = newCreation(merchant);
  const { merchant_wallet } = one;
  await createAt(one, noon + first);
  return createAt(newCreation(merchant, { merchant_wallet }), noon + second, alone);
}

describe('a clock that was set back', () => {
  test.each([
    ['by a second', 1_000, true],
    ['by a second, in a group', 1_000, false],
    ['by 150 seconds', 150_000, true],
    ['so that it shows the same time again', 0, true],
  ])(
    '%s does not put a payment before the one that was in its slot: it begins a millisecond later',
    async (_, back, alone) => {
      const {
        created_at: createdAt,
        expires_at: expiresAt,
        reply,
        message,
        replied_at: repliedAt,
      } = await inSlot(0, -back, alone);
      expect([createdAt.getTime(), expiresAt.getTime(), repliedAt.getTime()]).toEqual([
        noon + 1,
        noon + 1 + 1_800_000,
        noon + 1,
      ]);
      const times = { created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
      for (const text of [reply, message]) expect(JSON.parse(text)).toMatchObject(times);
    },
  );

  test.each([
    ['by more than 150 seconds is the time', 0, -150_001],
    ['before all payments of the slot is the time', 0, 5_000],
  ])('%s', async (_, first, second) => {
    expect((await inSlot(first, second)).created_at.getTime()).toBe(noon + second);
  });

  test('is the time of a payment in another slot', async () => {
    const merchant = await newGate(db);
    const one = newCreation(merchant);
    await createAt(one, noon);
    const { merchant_wallet } = one;
    const other = newCreation(merchant, { merchant_wallet, amount: '2', amount_units: 2_000_000n });
    expect((await createAt(other, noon - 1_000)).created_at.getTime()).toBe(noon - 1_000);
  });
});
