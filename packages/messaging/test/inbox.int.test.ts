import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { transaction } from '@quittance/postgres/transaction.ts';
import { enterInbox, inboxRetention } from '../src/consumer/inbox.ts';
import { deleteOldRows } from '../src/schema/cleaning.ts';
import { startWorld, type World } from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

test('inbox rows older than a week are deleted, a bounded number at a time', async () => {
  await world.pool.query(`
    insert into inbox (handler, message_id, received_at)
    select 'old', gen_random_uuid(), now() - interval '8 days' from generate_series(1, 1500)
    union all select 'young', gen_random_uuid(), now() - interval '6 days'`);
  expect(await deleteOldRows(world.pool, inboxRetention)).toBe(1000);
  expect(await deleteOldRows(world.pool, inboxRetention)).toBe(500);
  const { rows } = await world.pool.query('select handler from inbox');
  expect(rows).toEqual([{ handler: 'young' }]);
});

test('of consumers that receive the same messages in opposite order, one processes them all without a deadlock', async () => {
  for (let round = 0; round < 10; round += 1) {
    const messageIds = Array.from({ length: 2_000 }, () => randomUUID());
    let tries = 0;
    const enter = (ids: string[]): Promise<number> =>
      transaction(
        world.pool,
        async (tx) => {
          tries += 1;
          // Longer than one of them takes on a busy machine, because the other waits for it.
          await tx.query(`set local statement_timeout = '30s'`);
          return (await enterInbox(tx, 'handler', ids)).size;
        },
        { lockTimeoutMs: 30_000 },
      );
    const entered = await Promise.all([enter(messageIds), enter(messageIds.toReversed())]);
    expect(entered.toSorted()).toEqual([0, 2_000]);
    // The victim of a deadlock would have run again.
    expect(tries).toBe(2);
  }
});
