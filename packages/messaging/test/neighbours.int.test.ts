import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { moveToSent, advanceBounds, claimMessages, outboxBacklog, pauseMessages } from '../src/outbox/store.ts';
import { QUEUE, outboxSize, queueSize, sendMessage, startWorld, type World } from './world.ts';

// Pauses double, and messages that a busy machine sends late wait for a longer one.

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const insertMany = (name: string, count: number, { minutesAgo = 0 } = {}) =>
  world.pool.query(
    `insert into outbox (message_id, name, version, merchant_id, body, request_id, created_at, not_before)
     select gen_random_uuid(), $1, 1, 'm', '{}', 'r', now() - make_interval(mins => $3), now() - make_interval(mins => $3)
       from generate_series(1, $2)`,
    [name, count, minutesAgo],
  );

/** PaymentCreated is routed to this queue and to chain-watcher's. */
const REFUSING = 'quota.payment-created';
const HEALTHY = 'chain-watcher.payment-created';

test('messages that a queue refuses wait alone, with growing pauses, and reach the other queue of their name once a pause, until theirs accepts them', async () => {
  await world.refuse(REFUSING, true);
  await insertMany('PaymentCreated', 1_500);
  const outbox = world.outbox();
  // All are refused except the few that fit into the queue before it checks its limit.
  await eventually(async () => {
    const { rows } = await world.pool.query<{ waiting: number }>(
      `select count(*)::int as waiting from outbox where refusals >= 2 and not_before > created_at + interval '1 second'`,
    );
    expect(rows[0]!.waiting).toBeGreaterThan(1_000);
  });
  const sent = [await sendMessage(world, outbox), await sendMessage(world, outbox)];
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(sent.length));

  await outbox.close();
  const { rows } = await world.pool.query<{ attempts: number }>(
    `select (select count(*) from sent_message where name = 'PaymentCreated')::int
          + (select sum(refusals) from outbox)::int as attempts`,
  );
  expect(await queueSize(world, HEALTHY)).toBeLessThanOrEqual(rows[0]!.attempts + 1_500);
  const tooEarly = await world.pool.query<{ count: number | null }>(
    `select max(refusals)::int as count from outbox where not_before < created_at + make_interval(secs => 2 ^ refusals / 2 - 1)`,
  );
  expect(tooEarly.rows[0]!.count).toBe(null);

  await world.refuse(REFUSING, false);
  await world.channel.purgeQueue(REFUSING);
  world.outbox();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
});

test('a queue that confirms nothing delays no other message', async () => {
  const { promise: never, resolve: end } = Promise.withResolvers<undefined>();
  const broker = {
    ...world.broker,
    openPublisher(name: string, onReady: () => void) {
      const publisher = world.broker.openPublisher(name, onReady);
      if (name !== 'PaymentCreated') return publisher;
      return { ...publisher, publish: () => never.then(() => []) };
    },
  };
  try {
    await insertMany('PaymentCreated', 1_600);
    const outbox = world.outbox({ broker });
    await eventually(async () => {
      const { rows } = await world.pool.query(`select from outbox where claimed_until > now()`);
      // Three batches are in flight, and no more.
      expect(rows).toHaveLength(1_500);
    });
    await sendMessage(world, outbox);
    await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(1));
  } finally {
    end(undefined);
  }
});

test('a relay that starts finds old messages of other processes, name by name, and messages whose name it does not know', async () => {
  await insertMany('WebhookConfigured', 3, { minutesAgo: 600 });
  await insertMany('WebhookConfigured', 3, { minutesAgo: 60 });
  await insertMany('Unheard', 1, { minutesAgo: 30 });
  await world.channel.bindQueue(QUEUE, 'quittance', 'Unheard');
  world.outbox();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await queueSize(world, QUEUE)).toBe(7);
  await world.channel.unbindQueue(QUEUE, 'quittance', 'Unheard');
});

/** A pool that runs statements with explain. @returns the pages that each has read. */
function explaining(pool: Pool): { pool: Pool; pages: number[] } {
  const pages: number[] = [];
  const query = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
    pages.push(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!);
    return { rows: [] };
  };
  return { pool: { query } as unknown as Pool, pages };
}

test('sent messages that a long reader keeps from vacuum do not make a claim read more', async () => {
  const name = 'WebhookConfigured';
  const reader = await world.pool.connect();
  try {
    await reader.query('begin isolation level repeatable read; set local idle_in_transaction_session_timeout = 0');
    await reader.query('select from outbox');
    await insertMany(name, 20_000, { minutesAgo: 10 });
    await world.pool.query('delete from outbox');
    await world.pool.query('vacuum outbox');
    await insertMany(name, 10);
    const [{ since } = { since: '' }] = await advanceBounds(world.pool, [{ name, since: null }]);

    const { pool, pages } = explaining(world.pool);
    const relay = { relayId: '00000000-0000-0000-0000-000000000000', leaseSeconds: 30, limit: 500 };
    await advanceBounds(pool, [{ name, since }]);
    await outboxBacklog(pool, [{ name, since }]);
    await claimMessages(pool, { name, since, writtenWithin: 2, ...relay });
    await claimMessages(pool, { name, since, writtenWithin: null, ...relay });
    const ids = Array.from({ length: 10 }, () => randomUUID());
    await pauseMessages(pool, relay.relayId, ids);
    await moveToSent(pool, ids);
    // The dead rows are on 600 pages and more, and each of their index entries leads to one of them.
    expect(pages).toHaveLength(6);
    expect(Math.max(...pages)).toBeLessThan(200);
  } finally {
    reader.release(true);
  }
});
