import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, testPool, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { mayWorkLater, neverWorks, sent, type Outcome, type Senders } from '../src/channels/channel.ts';
import { migrations, schema } from '../src/migrations.ts';
import {
  claimNotices,
  deleteOldNotices,
  insertNotices,
  measureNotices,
  NOTICES_PER_HOUR,
  QueueFull,
  readChannels,
} from '../src/notices/notice.sql.ts';
import { startSendLoops } from '../src/notices/send.ts';
import { saveMerchant } from '../src/settings/settings.sql.ts';

const vault = createKeyVault(randomBytes(32));
const content = { kind: 'paid', amount: '1', payment_id: null, order_id: null, description: null } as const;
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

async function newMerchant(email = ['a@shop.example'], telegram_chat: string | null = null): Promise<string> {
  const merchantId = newId('mer');
  const choice = { language: 'en', email, telegram_chat };
  await transaction(pool, (tx) => saveMerchant(tx, merchantId, choice, { slack: null, changedBy: 'test' }));
  return merchantId;
}
const insert = (merchantId: string, eventId = newId('evt'), channels: readonly ('email' | 'telegram')[] = ['email']) =>
  insertNotices(pool, { merchantId, eventId, channels, content });
const noticesOf = async (merchantId: string) =>
  (
    await pool.query<{ channel: string; state: string; attempts: number; problem: string | null; content: unknown }>(
      'select channel, state, attempts, problem, content from notice where merchant_id = $1 order by due_at, event_id, channel',
      [merchantId],
    )
  ).rows;
const claim = (busy: string[] = [], limit = 100) => claimNotices(pool, { channel: 'email', busy, limit });

/** Sends with these outcomes, by channel, until closed. @returns the ids that were sent, in order. */
function start(answers: Partial<Record<'email' | 'telegram', (id: string) => Promise<Outcome>>>) {
  const attempted: string[] = [];
  const sender =
    (channel: 'email' | 'telegram') =>
    async (_to: unknown, { id }: { id: string }) => {
      attempted.push(`${channel} ${id}`);
      return (await answers[channel]?.(id)) ?? sent;
    };
  const senders: Senders = { email: sender('email'), telegram: sender('telegram'), slack: null };
  const metrics = createMetrics({ service: 'notifier', processMetrics: false });
  const loops = startSendLoops({ pool, vault, senders, consoleUrl: '', logger: testLogger, metrics });
  return { attempted, loops, metrics };
}

test('concurrent copies of an event are one notice for each channel', async () => {
  const [merchantId, eventId] = [await newMerchant(), newId('evt')];
  await Promise.all(Array.from({ length: 8 }, () => insert(merchantId, eventId, ['email', 'telegram'])));
  expect((await noticesOf(merchantId)).map(({ channel }) => channel)).toEqual(['email', 'telegram']);
});

test('two processes never have the same notice, and a merchant has one at a time', async () => {
  const merchants = await Promise.all([newMerchant(), newMerchant()]);
  for (const merchantId of merchants) for (let count = 0; count < 3; count += 1) await insert(merchantId);
  const claimed = (await Promise.all([claim(), claim()]))
    .flat()
    .filter(({ merchant_id: id }) => merchants.includes(id));
  expect(new Set(claimed.map(({ event_id: id }) => id)).size).toBe(claimed.length);
  expect(claimed.filter(({ merchant_id: id }) => id === merchants[0]).length).toBeLessThanOrEqual(2);
  expect((await claim(merchants)).filter(({ merchant_id: id }) => merchants.includes(id))).toEqual([]);
  await pool.query(`update notice set state = 'sent', content = null, ended_at = now() where state = 'waiting'`);
});

test('more notices than the limit an hour wait for the next one, and a queue of a day is full', async () => {
  const [merchantId, other] = [await newMerchant(), await newMerchant()];
  for (let count = 0; count <= NOTICES_PER_HOUR; count += 1) await insert(merchantId);
  const { rows } = await pool.query<{ later: number }>(
    `select count(*)::int as later from notice
      where merchant_id = $1 and due_at between now() + interval '50 minutes' and now() + interval '1 hour'`,
    [merchantId],
  );
  expect(rows[0]!.later).toBe(1);
  await pool.query(`update notice set due_at = due_at + interval '24 hours' where merchant_id = $1`, [merchantId]);
  await expect(insert(merchantId)).rejects.toThrow(QueueFull);
  await insert(other);
  expect(await noticesOf(other)).toHaveLength(1);
  await pool.query(`update notice set state = 'sent', content = null, ended_at = now() where state = 'waiting'`);
});

test('a notice whose process ended is sent by the next one', async () => {
  const [merchantId, eventId] = [await newMerchant(), newId('evt')];
  await insert(merchantId, eventId);
  expect(await claim()).toMatchObject([{ event_id: eventId, attempts: 0 }]);
  // The minute after which another process may take it.
  await pool.query(`update notice set next_attempt_at = now() where merchant_id = $1`, [merchantId]);
  const { attempted, loops } = start({});
  await eventually(async () => expect(await noticesOf(merchantId)).toMatchObject([{ state: 'sent', content: null }]));
  await loops.close();
  expect(attempted).toEqual([`email ${eventId}`]);
});

test('a channel and a merchant that get no answer hold no others', async () => {
  const [hanging, merchantId] = [
    await newMerchant(['a@shop.example'], '1'),
    await newMerchant(['a@shop.example'], '1'),
  ];
  const { promise: never, resolve: end } = Promise.withResolvers<Outcome>();
  const stuck = newId('evt');
  await insert(hanging, stuck);
  for (let count = 0; count < 3; count += 1) await insert(merchantId, newId('evt'), ['email', 'telegram']);
  const { loops } = start({ email: (id) => (id === stuck ? never : Promise.resolve(sent)), telegram: () => never });
  await eventually(async () => {
    const emails = (await noticesOf(merchantId)).filter(({ channel }) => channel === 'email');
    expect(emails.map(({ state }) => state)).toEqual(['sent', 'sent', 'sent']);
  });
  end(mayWorkLater('no answer'));
  await loops.close();
  await eventually(async () => expect(await noticesOf(hanging)).toMatchObject([{ state: 'waiting', attempts: 1 }]));
  await pool.query(`delete from notice where merchant_id = any($1)`, [[hanging, merchantId]]);
});

test('a failed attempt is repeated after a pause that grows, or that the server wants, and ends after twenty', async () => {
  const merchantId = await newMerchant();
  await insert(merchantId);
  const answers: Outcome[] = [mayWorkLater('one'), mayWorkLater('two', 900), mayWorkLater('three', 999_999)];
  const { loops } = start({ email: async () => answers.shift() ?? mayWorkLater('more') });
  const after = async (attempts: number) => {
    const [row] = (
      await pool.query<{ attempts: number; pause: number }>(
        'select attempts, extract(epoch from next_attempt_at - now())::float8 as pause from notice where merchant_id = $1',
        [merchantId],
      )
    ).rows;
    expect(row!.attempts).toBe(attempts);
    return row!.pause;
  };
  const again = () => pool.query(`update notice set next_attempt_at = now() where merchant_id = $1`, [merchantId]);
  expect(await eventually(() => after(1))).toBeLessThanOrEqual(5);
  await again();
  expect(await eventually(() => after(2))).toBeGreaterThan(600);
  await again();
  expect(await eventually(() => after(3))).toBeLessThanOrEqual(3_600);
  await pool.query(`update notice set attempts = 19, next_attempt_at = now() where merchant_id = $1`, [merchantId]);
  await eventually(async () =>
    expect(await noticesOf(merchantId)).toMatchObject([
      { state: 'failed', attempts: 20, problem: 'more', content: null },
    ]),
  );
  await loops.close();
});

test('what can not work ends at once, is counted, and is told to the merchant', async () => {
  const [refused, unused, old] = [await newMerchant(), await newMerchant([], '1'), await newMerchant()];
  for (const merchantId of [refused, unused, old]) await insert(merchantId);
  await pool.query(`update notice set due_at = now() - interval '3 days' where merchant_id = $1`, [old]);
  const { loops, metrics } = start({ email: async () => neverWorks('no such address') });
  const problemOf = async (merchantId: string) => (await noticesOf(merchantId))[0]!.problem;
  await eventually(async () => {
    expect(await problemOf(refused)).toBe('no such address');
    expect(await problemOf(unused)).toBe('the channel is no longer used');
    expect(await problemOf(old)).toBe('it is too old');
  });
  await eventually(async () =>
    expect((await metrics.render()).text).toContain(
      'notices_total{channel="email",outcome="failed",service="notifier"} 3',
    ),
  );
  await loops.close();
  expect(await readChannels(pool, refused, ['email', 'slack'])).toEqual([
    { channel: 'email', waiting: 0, failed_at: expect.any(Date), problem: 'no such address' },
    { channel: 'slack', waiting: 0, failed_at: null, problem: null },
  ]);
});

test('waiting notices are measured from when they were due, and old ended ones are deleted', async () => {
  const merchantId = await newMerchant();
  await insert(merchantId);
  await pool.query(`update notice set due_at = now() - interval '20 minutes' where merchant_id = $1`, [merchantId]);
  const [email] = await measureNotices(pool);
  expect(email).toMatchObject({ channel: 'email', waiting: 1 });
  expect(email!.overdue_seconds).toBeGreaterThanOrEqual(1_200);
  const endedAgo = (days: number) =>
    pool.query(
      `update notice set state = 'sent', content = null, ended_at = now() - make_interval(days => $2) where merchant_id = $1`,
      [merchantId, days],
    );
  await endedAgo(89);
  expect(await deleteOldNotices(pool)).toBe(false);
  expect(await noticesOf(merchantId)).toHaveLength(1);
  await endedAgo(91);
  expect(await deleteOldNotices(pool)).toBe(false);
  expect(await noticesOf(merchantId)).toEqual([]);
});
