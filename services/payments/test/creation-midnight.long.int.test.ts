import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { schema } from '../src/migrations.ts';
import { type Answer, type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

/*
 * The database's clock decides which day a creation belongs to. The test can set it: PostgreSQL finds clock_timestamp() through the search
 * path, so sessions that name pg_catalog last find a function of the test first. now() is not replaced: it is the beginning of the
 * transaction, and no decision here may use it.
 */
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({
    replicas: 2,
    sessionOptions: `-c search_path=${schema},pg_catalog`,
  });
  await payments.db.query('create table test_clock (ahead interval not null)');
  await payments.db.query(`insert into test_clock values ('0')`);
  await payments.db.query(
    `create function ${schema}.clock_timestamp() returns timestamptz language sql volatile
       return pg_catalog.clock_timestamp() + (select ahead from test_clock)`,
  );
});
afterAll(() => payments.close());

/** Sets the service's clock to `moment`; it continues from there. */
const setClock = (moment: Date) =>
  payments.db.query('update test_clock set ahead = $1::timestamptz - pg_catalog.clock_timestamp()', [moment]);

const dayOf = (time: string | Date): string => new Date(time).toISOString().slice(0, 10);

/** The midnight after the next one, so that the machine's own cannot interfere. */
const MIDNIGHT = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 86_400_000);
const OLD_DAY = dayOf(new Date(MIDNIGHT.getTime() - 1));
const NEW_DAY = dayOf(MIDNIGHT);

test('creations that race over midnight count to the day of their created_at, and each day has exactly its limit', async () => {
  const limit = 12;
  const [scarce, ample] = await Promise.all(
    [limit, 1_000_000].map((daily) =>
      Promise.all(Array.from({ length: 3 }, () => newMerchant(payments, { daily_limit: daily }))),
    ),
  );
  const merchants = [...scarce!, ...ample!];
  await setClock(new Date(MIDNIGHT.getTime() - 3_600_000));
  const clients = startClients(merchants);
  try {
    await untilRefused(clients, scarce!);
    // All clients are creating at this moment.
    await setClock(MIDNIGHT);
    await untilRefused(clients, scarce!);
    const answered = clients.answers.length;
    await eventually(() => expect(clients.answers.length).toBeGreaterThan(answered + 30));
  } finally {
    await clients.stop();
  }
  for (const merchantId of merchants) {
    const days = await payments.db.query<{ day: string; count: number }>(
      `select (created_at at time zone 'UTC')::date as day, count(*)::int as count from payment where merchant_id = $1
        group by day order by day`,
      [merchantId],
    );
    expect(days.rows.map(({ day }) => day)).toEqual([OLD_DAY, NEW_DAY]);
    const [before, after] = days.rows.map(({ count }) => count);
    if (scarce!.includes(merchantId)) expect([before, after]).toEqual([limit, limit]);
    const { json } = await payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);
    expect(json).toMatchObject({ lifetime_requests_used: before! + after!, daily_used: after });
  }
});

test('a creation that started before midnight and got its gate after it counts to the new day', async () => {
  // More than enough, because a refusal would be decided again, and later.
  const merchantId = await newMerchant(payments, { daily_limit: 10 });
  await setClock(new Date(MIDNIGHT.getTime() - 60_000));
  expect((await create(payments, merchantId)).status).toBe(201);
  // On a busy machine the creation may have timed out, which changes nothing: then it is repeated.
  const created = await eventually(() => createOverMidnight(merchantId));
  expect(dayOf(created.created_at)).toBe(NEW_DAY);
  const { json } = await payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);
  expect(json).toMatchObject({
    daily_used: 1,
    lifetime_requests_used: 2,
    daily_reset_at: new Date(MIDNIGHT.getTime() + 86_400_000).toISOString(),
  });
});

test('the last millisecond before midnight counts to the old day, midnight itself to the new one', async () => {
  const merchantId = await newMerchant(payments, { daily_limit: 1 });
  const freeze = async (moment: Date): Promise<void> => {
    await payments.db.query(
      `create or replace function ${schema}.clock_timestamp() returns timestamptz language sql volatile
         return '${moment.toISOString()}'::timestamptz`,
    );
  };
  await freeze(new Date(MIDNIGHT.getTime() - 1));
  expect((await create(payments, merchantId)).json.created_at).toBe(`${OLD_DAY}T23:59:59.999Z`);
  expect((await create(payments, merchantId)).json.detail.code).toBe('daily_quota_exhausted');
  await freeze(MIDNIGHT);
  expect((await create(payments, merchantId)).json.created_at).toBe(`${NEW_DAY}T00:00:00.000Z`);
  expect((await create(payments, merchantId)).json.detail.code).toBe('daily_quota_exhausted');
});

/** Merchants' backends that request one payment after the other until they are stopped. */
function startClients(merchants: readonly string[]) {
  const answers: { merchantId: string; answer: Answer<Payment> }[] = [];
  let stopped = false;
  const run = async (merchantId: string): Promise<void> => {
    while (!stopped) {
      const answer = await create(payments, merchantId, {}, { once: true });
      answers.push({ merchantId, answer });
      if (answer.status !== 201) await pause(20);
    }
  };
  const running = Promise.all([...merchants, ...merchants].map(run));
  // Awaited when they are stopped; until then it must not count as an unhandled rejection.
  running.catch(() => undefined);
  return {
    answers,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

/** Waits until each of the merchants has created something from now on, and is then refused for its day. */
async function untilRefused({ answers }: ReturnType<typeof startClients>, merchants: readonly string[]): Promise<void> {
  const before = answers.length;
  await eventually(() => {
    for (const merchantId of merchants) {
      const since = answers.slice(before).filter(({ merchantId: who }) => who === merchantId);
      const created = since.findIndex(({ answer }) => answer.status === 201);
      const refused = since.findLastIndex(({ answer }) => answer.status === 403);
      expect(created).toBeGreaterThanOrEqual(0);
      expect(refused).toBeGreaterThan(created);
      expect(since[refused]!.answer.json.detail.code).toBe('daily_quota_exhausted');
    }
  });
}

/** Lets a creation wait for its gate until midnight has passed. @throws when it timed out. */
async function createOverMidnight(merchantId: string): Promise<Payment> {
  await setClock(new Date(MIDNIGHT.getTime() - 60_000));
  const holder = await payments.db.connect();
  try {
    await holder.query('begin; set local idle_in_transaction_session_timeout = 0');
    await holder.query('select from gate where merchant_id = $1 for update', [merchantId]);
    const waiting = create(payments, merchantId, {}, { once: true });
    await eventually(async () => {
      const { rows } = await payments.db.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and usename = current_user`,
      );
      expect(rows).toHaveLength(1);
    });
    await setClock(MIDNIGHT);
    await holder.query('rollback');
    const answer = await waiting;
    expect(answer.status).toBe(201);
    return answer.json;
  } finally {
    holder.release(true);
  }
}
