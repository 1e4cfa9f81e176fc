import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WebhookConfigured } from '@quittance/contracts/messages.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { withRequestId } from '@quittance/runtime/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createSender } from '../src/outbox/sender.ts';
import { composeMessage } from '../src/outbox/outbox.ts';
import { insertMessages, pauseMessages } from '../src/outbox/store.ts';
import {
  QUEUE,
  connected,
  effects,
  outboxSize,
  queueSize,
  recording,
  results,
  sendMessage,
  startWorld,
  webhookConfigured,
  type World,
} from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

test('a message sent in a committed transaction takes effect once and leaves the outbox', async () => {
  const seen: unknown[] = [];
  world.consume([recording(({ requestId, messageId }) => void seen.push({ requestId, messageId }))]);
  const messageId = await withRequestId('request-7', () => sendMessage(world, world.outbox()));

  await eventually(async () => expect(await effects(world)).toEqual([messageId]));
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(seen).toEqual([{ requestId: 'request-7', messageId }]);
  await eventually(async () => expect(await results(world)).toEqual({ done: 1 }));
});

test('a message sent in a transaction that rolls back is never published', async () => {
  const outbox = world.outbox();
  const failing = transaction(world.pool, async (tx) => {
    await outbox.send(tx, WebhookConfigured, webhookConfigured());
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');

  await sendMessage(world, outbox);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await queueSize(world, QUEUE)).toBe(1);
});

test('a payload that breaks its schema is refused at the sender', async () => {
  const outbox = world.outbox();
  const broken = { ...webhookConfigured(), merchant_id: 'nobody' };
  const sending = transaction(world.pool, (tx) => outbox.send(tx, WebhookConfigured, broken));
  await expect(sending).rejects.toThrow('WebhookConfigured: /merchant_id');
  expect(await outboxSize(world)).toBe(0);
});

test('many messages sent together are published in their order, before the next message sent', async () => {
  const outbox = world.outbox();
  // Random ids: sorted by them the messages would leave in another order if their times were equal. More than one statement takes.
  const messages = Array.from({ length: 4_500 }, () => ({ payload: webhookConfigured(), messageId: randomUUID() }));
  let next = '';
  world.brokerProxy.cut();
  await eventually(() => expect(world.broker.canPublish()).toBe(false));
  await transaction(world.pool, async (tx) => {
    await outbox.sendAll(tx, WebhookConfigured, messages);
    await outbox.sendAll(tx, WebhookConfigured, []);
    next = randomUUID();
    await outbox.send(tx, WebhookConfigured, webhookConfigured(), { messageId: next });
  });
  world.brokerProxy.restore();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  const left: unknown[] = [];
  await world.channel.consume(QUEUE, (message) => left.push(message?.properties.messageId), { noAck: true });
  await eventually(() => expect(left).toHaveLength(messages.length + 1));
  expect(left).toEqual([...messages.map(({ messageId }) => messageId), next]);
});

test('of many messages sent together one whose id waits already is left out, and one that breaks its schema refuses them all', async () => {
  const outbox = world.outbox();
  world.brokerProxy.cut();
  await eventually(() => expect(world.broker.canPublish()).toBe(false));
  const messageId = randomUUID();
  const again = { payload: webhookConfigured(), messageId };
  await transaction(world.pool, (tx) => outbox.sendAll(tx, WebhookConfigured, [again, again]));
  await transaction(world.pool, (tx) =>
    outbox.sendAll(tx, WebhookConfigured, [again, { payload: webhookConfigured() }]),
  );
  expect(await outboxSize(world)).toBe(2);
  const broken = { payload: { ...webhookConfigured(), merchant_id: 'nobody' } };
  const sending = transaction(world.pool, (tx) => outbox.sendAll(tx, WebhookConfigured, [again, broken]));
  await expect(sending).rejects.toThrow('WebhookConfigured: /merchant_id');
  expect(await outboxSize(world)).toBe(2);
});

test('a sender with spacing sends immediately, then only after the spacing, and another relay sends what it leaves', async () => {
  const { pool, broker, metrics } = world;
  const outbox = world.outbox();
  await outbox.close();
  const spaced = { name: WebhookConfigured.name, spacingMs: 1_000_000 };
  const sender = createSender(spaced, { pool, broker, signer: null, metrics, logger: testLogger, pollMs: 50 });
  sender.goBack(new Date(Date.now() - 1_000).toISOString());
  const write = async (): Promise<void> => {
    await transaction(pool, (tx) => insertMessages(tx, [composeMessage(WebhookConfigured, webhookConfigured())]));
    sender.wake('recent');
  };
  await write();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await write();
  await pause(WOULD_BE_SENT_MS);
  expect(await outboxSize(world)).toBe(1);
  await sender.close();
  world.outbox();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await queueSize(world, QUEUE)).toBe(2);
});

/** Far longer than a message takes that does not have to wait. */
const WOULD_BE_SENT_MS = 300;

test('messages whose process dies right after the commit are sent by another relay at its next poll', async () => {
  const dying = world.outbox();
  await sendMessage(world, dying);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await dying.close();
  // The relay is not woken, as in a process that is killed right after the commit.
  await transaction(world.pool, (tx) =>
    dying.send({ ...tx, afterCommit: () => undefined }, WebhookConfigured, webhookConfigured()),
  );
  expect((await world.pool.query('select claimed_by from outbox')).rows).toEqual([{ claimed_by: null }]);
  world.outbox();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await queueSize(world, QUEUE)).toBe(2);
});

test('messages committed while RabbitMQ disconnects are sent when it is back, not when a lease ends', async () => {
  const outbox = world.outbox();
  await sendMessage(world, outbox);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await transaction(world.pool, async (tx) => {
    await outbox.send(tx, WebhookConfigured, webhookConfigured());
    world.brokerProxy.cut();
    await eventually(() => expect(world.broker.canPublish()).toBe(false));
  });
  await eventually(async () => {
    const { rows } = await world.pool.query('select claimed_by from outbox');
    expect(rows).toEqual([{ claimed_by: null }]);
  });
  world.brokerProxy.restore();
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await queueSize(world, QUEUE)).toBe(2);
});

test('while RabbitMQ is away messages are kept unclaimed, and sent once when it is back', async () => {
  world.consume([recording()]);
  const outbox = world.outbox();
  world.brokerProxy.cut();
  await eventually(() => expect(world.broker.canPublish()).toBe(false));
  const sent = [await sendMessage(world, outbox), await sendMessage(world, outbox)];

  await eventually(async () => {
    const { rows } = await world.pool.query('select distinct claimed_by from outbox');
    expect(rows).toEqual([{ claimed_by: null }]);
  });
  world.brokerProxy.restore();
  await eventually(async () => expect((await effects(world)).sort()).toEqual(sent.sort()));
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
});

test('a relay that dies between the confirm and the delete sends again, and the inbox ignores the copy', async () => {
  world.consume([recording()]);
  const outbox = world.outbox();
  // A sequence advances even though the transaction is rolled back.
  await world.pool.query(`
    create sequence refused;
    create function refuse() returns trigger language plpgsql as $$ begin perform nextval('refused'); raise 'dead'; end $$;
    create trigger refuse before delete on outbox for each row execute function refuse()`);
  const messageId = await sendMessage(world, outbox);
  await eventually(async () => expect(await effects(world)).toEqual([messageId]));
  // Its confirm may come later than the effect.
  await eventually(async () => {
    expect((await world.pool.query('select is_called from refused')).rows).toEqual([{ is_called: true }]);
  });

  // The row of the dead relay: still there, after its lease.
  await world.pool.query('drop trigger refuse on outbox');
  await world.pool.query(`update outbox set claimed_until = now() - interval '1 second'`);
  await eventually(async () => expect(await results(world)).toEqual({ done: 1, duplicate: 1 }));
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await effects(world)).toEqual([messageId]);
});

test('a row whose lease runs is left to its relay', async () => {
  const outbox = world.outbox();
  await world.pool.query(
    `insert into outbox (message_id, name, version, merchant_id, body, request_id, claimed_by, claimed_until)
     values (gen_random_uuid(), 'WebhookConfigured', 1, 'm', '{}', 'r', gen_random_uuid(), now() + interval '1 minute')`,
  );
  await sendMessage(world, outbox);
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(1));
  await eventually(async () => expect(await outboxSize(world)).toBe(1));
});

test('a row that RabbitMQ refused to a relay, and another one has claimed since, keeps its lease', async () => {
  const [holder, other] = [randomUUID(), randomUUID()];
  const { rows } = await world.pool.query<{ message_id: string }>(
    `insert into outbox (message_id, name, version, merchant_id, body, request_id, claimed_by, claimed_until)
     values (gen_random_uuid(), 'WebhookConfigured', 1, 'm', '{}', 'r', $1, now() + interval '1 minute') returning message_id`,
    [holder],
  );
  const ids = rows.map(({ message_id: id }) => id);
  const claimedBy = async () =>
    (await world.pool.query<{ claimed_by: string | null }>('select claimed_by from outbox')).rows;
  await pauseMessages(world.pool, other, ids);
  expect(await claimedBy()).toEqual([{ claimed_by: holder }]);
  await pauseMessages(world.pool, holder, ids);
  expect(await claimedBy()).toEqual([{ claimed_by: null }]);
});

test('a row that was written long ago, and committed only now, is found while new ones keep the relay busy', async () => {
  const outbox = world.outbox();
  await sendMessage(world, outbox);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  const { rows } = await world.pool.query<{ message_id: string }>(
    `insert into outbox (message_id, name, version, merchant_id, body, request_id, created_at)
     values (gen_random_uuid(), 'WebhookConfigured', 1, 'm', '{}', 'r', now() - interval '1 hour') returning message_id`,
  );
  await eventually(async () => {
    await sendMessage(world, outbox);
    expect((await world.pool.query('select from outbox where message_id = $1', [rows[0]!.message_id])).rows).toEqual(
      [],
    );
  });
});

test('two relays on one outbox publish each row once', async () => {
  const second = world.connect(world.brokerUrl);
  await connected(second);
  await world.pool.query(
    `insert into outbox (message_id, name, version, merchant_id, body, request_id)
     select gen_random_uuid(), 'WebhookConfigured', 1, 'm', '{}', 'r' from generate_series(1, 3000)`,
  );
  world.outbox();
  world.outbox({ broker: second });
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(3000));
});

test('a message that no queue wants stays in the outbox until its queue is declared again', async () => {
  const outbox = world.outbox();
  await world.channel.deleteQueue(QUEUE);
  const messageId = await sendMessage(world, outbox);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  expect(await queueSize(world, QUEUE)).toBe(1);
  const message = await world.channel.get(QUEUE, { noAck: true });
  expect(message && message.properties).toMatchObject({
    messageId,
    type: 'WebhookConfigured',
    contentType: 'application/json',
    deliveryMode: 2,
    headers: { version: 1 },
  });
});

test('close() finishes the batch in flight', async () => {
  const outbox = world.outbox();
  // It is connected, so the delay is only that of its message.
  await sendMessage(world, outbox);
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await world.channel.purgeQueue(QUEUE);
  world.brokerProxy.delay(200);
  await sendMessage(world, outbox);
  await eventually(async () => {
    const { rows } = await world.pool.query('select claimed_by from outbox');
    expect(rows[0]).not.toEqual({ claimed_by: null });
  });
  await outbox.close();
  expect(await outboxSize(world)).toBe(0);
  expect(await queueSize(world, QUEUE)).toBe(1);
});
