import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { sentMessageRetention } from '../src/outbox/store.ts';
import { deleteOldRows } from '../src/schema/cleaning.ts';
import { QUEUE, effects, outboxSize, queueSize, recording, sendMessage, startWorld, type World } from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

/** @returns how many messages were put back into the outbox. */
async function replayMessages(since: string): Promise<number> {
  const { rows } = await world.pool.query<{ count: string }>('select replay_messages($1::timestamptz) as count', [
    since,
  ]);
  return Number(rows[0]!.count);
}

const rowsOf = async (): Promise<string[]> => {
  const { rows } = await world.pool.query<{ message_id: string }>('select message_id from sent_message');
  return rows.map((row) => row.message_id);
};

test('messages that RabbitMQ lost with all its data are replayed and take effect, those already consumed do not', async () => {
  const outbox = world.outbox();
  const consumers = world.consume([recording()]);
  const taken = await sendMessage(world, outbox);
  await eventually(async () => expect(await effects(world)).toEqual([taken]));
  await consumers.close();
  const lost = await sendMessage(world, outbox);
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(1));
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await world.channel.purgeQueue(QUEUE);

  expect(await replayMessages('-infinity')).toBe(2);
  world.consume([recording()]);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(0));
  await eventually(async () => expect((await effects(world)).sort()).toEqual([taken, lost].sort()));
  expect((await rowsOf()).sort()).toEqual([taken, lost].sort());
});

test('a replay covers only messages written since the given time', async () => {
  const outbox = world.outbox();
  const early = await sendMessage(world, outbox);
  await eventually(async () => expect(await rowsOf()).toEqual([early]));
  const { rows } = await world.pool.query<{ now: string }>('select clock_timestamp()::text as now');
  const late = await sendMessage(world, outbox);
  await eventually(async () => expect(await rowsOf()).toHaveLength(2));
  await outbox.close();

  expect(await replayMessages(rows[0]!.now)).toBe(1);
  const { rows: waiting } = await world.pool.query<{ message_id: string }>('select message_id from outbox');
  expect(waiting).toEqual([{ message_id: late }]);
});

test('sent messages are deleted once they are four days old', async () => {
  const outbox = world.outbox();
  const [old, young] = [await sendMessage(world, outbox), await sendMessage(world, outbox)];
  await eventually(async () => expect(await rowsOf()).toHaveLength(2));
  const age = `update sent_message set created_at = now() - $2::interval where message_id = $1`;
  await world.pool.query(age, [old, '97 hours']);
  await world.pool.query(age, [young, '95 hours']);
  expect(await deleteOldRows(world.pool, sentMessageRetention)).toBe(1);
  expect(await rowsOf()).toEqual([young]);
});
