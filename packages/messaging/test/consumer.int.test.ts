import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PaymentCreated } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { listDeadLetters } from '../src/dead-letter/dead-letter.ts';
import { PermanentError, on } from '../src/consumer/handler.ts';
import { DELIVERY_LIMIT } from '../src/broker/topology.ts';
import {
  QUEUE,
  effects,
  outboxSize,
  publishRaw,
  queueSize,
  mayBeIdle,
  recording,
  results,
  sendMessage,
  startWorld,
  attempts,
  validBody,
  type World,
} from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

test('two messages with one id have one effect', async () => {
  world.consume([recording()]);
  const messageId = randomUUID();
  for (let copy = 0; copy < 5; copy += 1) await publishRaw(world, validBody(), { messageId });
  await eventually(async () => expect(await results(world)).toEqual({ done: 1, duplicate: 4 }));
  expect(await effects(world)).toEqual([messageId]);
  expect(await queueSize(world, QUEUE)).toBe(0);
});

test.each([
  ['no JSON', '{', {}],
  ['a broken schema', '{"merchant_id":"mer_1"}', {}],
  ['a newer version', validBody(), { version: 2 }],
  ['a message id that is no UUID', validBody(), { messageId: 'first' }],
])('a message with %s becomes a dead letter immediately, and the queue continues', async (_, body, properties) => {
  world.consume([recording()]);
  const poison = await publishRaw(world, body, properties);
  const messageId = await publishRaw(world, validBody());

  await eventually(async () => expect(await effects(world)).toEqual([messageId]));
  const letters = await eventually(async () => {
    const found = await listDeadLetters(world.broker, { queue: QUEUE });
    expect(found).toHaveLength(1);
    return found;
  });
  expect(letters[0]).toMatchObject({
    message_id: poison,
    queue: QUEUE,
    reason: 'invalid_message',
    body,
    request_id: 'request-1',
  });
  expect(letters[0]?.error).toMatch(/^InvalidMessage: /);
  expect(letters[0]?.first_seen).toMatch(/^\d{4}-.*Z$/);
});

test('a handler that throws PermanentError is not tried again', async () => {
  world.consume([
    recording(() => {
      throw new PermanentError('no such payment');
    }),
  ]);
  const messageId = await publishRaw(world, validBody());
  const dead = { message_id: messageId, reason: 'permanent_error', error: 'PermanentError: no such payment' };
  await eventually(async () => expect(await listDeadLetters(world.broker)).toMatchObject([dead]));
  expect(await attempts(world)).toBe(1);
  expect(await effects(world)).toEqual([]);
});

test.each([
  ['a number that its column cannot hold', `select '2147483648'::integer`],
  ['a day that does not exist', `select '2026-02-30T00:00:00.000Z'::timestamptz`],
  ['a character that no text can hold', `select convert_from('\\x00', 'UTF8')`],
])('a message with %s becomes a dead letter immediately', async (_what, sql) => {
  world.consume([
    recording(async ({ tx }) => {
      await tx.query(sql);
    }),
  ]);
  const messageId = await publishRaw(world, validBody());
  const dead = { message_id: messageId, reason: 'invalid_message' };
  await eventually(async () => expect(await listDeadLetters(world.broker)).toMatchObject([dead]));
  expect(await attempts(world)).toBe(1);
});

test('a handler that fails three times and then succeeds has one effect', async () => {
  let failures = 0;
  world.consume([
    recording(async ({ tx }) => {
      // Half an effect, to show that it is rolled back.
      await tx.query(`insert into effects values (gen_random_uuid(), 'half')`);
      if (failures++ < 3) throw new Error('not yet');
      await tx.query(`delete from effects where merchant_id = 'half'`);
    }),
  ]);
  const messageId = await publishRaw(world, validBody());
  await eventually(async () => expect(await results(world)).toEqual({ failed: 3, done: 1 }));
  expect(await effects(world)).toEqual([messageId]);
});

test('a message whose handler always fails becomes a dead letter at the delivery limit, with its error', async () => {
  world.consume([
    recording(() => {
      throw new Error('never');
    }),
  ]);
  const messageId = await publishRaw(world, validBody());
  const dead = { message_id: messageId, reason: 'retries_exhausted', error: 'Error: never', version: 1 };
  await eventually(async () => expect(await listDeadLetters(world.broker)).toMatchObject([dead]));
  expect(await attempts(world)).toBe(DELIVERY_LIMIT + 1);
  expect(await queueSize(world, QUEUE)).toBe(0);
});

test('RabbitMQ itself dead-letters a message that no handler ever settles', async () => {
  const messageId = await publishRaw(world, validBody());
  await world.channel.consume(QUEUE, (delivery) => delivery && world.channel.reject(delivery, true));
  const dead = { message_id: messageId, reason: 'delivery_limit', error: null, queue: QUEUE };
  await eventually(async () => expect(await listDeadLetters(world.broker)).toMatchObject([dead]));
});

test('a short database outage counts against no message', async () => {
  world.consume([recording()], { pool: world.proxiedPool });
  world.databaseProxy.cut();
  const messageIds = [await publishRaw(world, validBody()), await publishRaw(world, validBody())];
  await eventually(async () => expect(await attempts(world)).toBeGreaterThan(2 * DELIVERY_LIMIT));
  world.databaseProxy.restore();

  await eventually(async () => expect((await effects(world)).sort()).toEqual(messageIds.sort()));
  await eventually(async () => expect(await results(world)).toEqual({ done: 2 }));
});

test('a database outage of hours counts against no message', async () => {
  world.consume([recording()], { pool: world.proxiedPool, maxWaitMs: 1 });
  world.databaseProxy.cut();
  const messageIds = [await publishRaw(world, validBody()), await publishRaw(world, validBody())];
  await eventually(async () => expect((await results(world)).requeued).toBeGreaterThan(4 * DELIVERY_LIMIT));
  world.databaseProxy.restore();

  await eventually(async () => expect((await effects(world)).sort()).toEqual(messageIds.sort()));
  expect(await listDeadLetters(world.broker)).toEqual([]);
  await eventually(async () => expect(await results(world)).toMatchObject({ done: 2 }));
});

test('failures before and after such an outage count together', async () => {
  let failures = 0;
  const handler = recording(() => {
    failures += 1;
    throw new Error('never');
  });
  world.consume([handler], { pool: world.proxiedPool, maxWaitMs: 1 });
  const messageId = await publishRaw(world, validBody());
  await eventually(() => expect(failures).toBeGreaterThan(2));
  world.databaseProxy.cut();
  await eventually(async () => expect((await results(world)).requeued).toBeGreaterThan(2));
  world.databaseProxy.restore();

  const dead = { message_id: messageId, reason: 'retries_exhausted' };
  await eventually(async () => expect(await listDeadLetters(world.broker)).toMatchObject([dead]));
  expect(failures).toBe(DELIVERY_LIMIT + 1);
});

test('a queue that is deleted under its consumer is declared again and consumed', async () => {
  const outbox = world.outbox();
  world.consume([recording()]);
  const before = await sendMessage(world, outbox);
  await eventually(async () => expect(await effects(world)).toEqual([before]));
  // Otherwise its confirmation could be lost with the queue, and the relay would wait for it.
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  await world.channel.deleteQueue(QUEUE);
  const after = await sendMessage(world, outbox);
  await eventually(async () => expect((await effects(world)).sort()).toEqual([before, after].sort()));
});

test('after a lost connection every message still takes effect once', async () => {
  const outbox = world.outbox();
  world.consume([recording()], { prefetch: 4 });
  const messageIds: string[] = [];
  for (let count = 0; count < 40; count += 1) {
    if (count % 10 === 5) {
      world.brokerProxy.cut();
      world.brokerProxy.restore();
    }
    messageIds.push(await sendMessage(world, outbox));
  }
  await eventually(async () => expect((await effects(world)).sort()).toEqual(messageIds.sort()));
});

test('close() lets the running handler finish and takes nothing more', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<null>();
  const { promise: entered, resolve: enter } = Promise.withResolvers<null>();
  const consumers = world.consume(
    [
      recording(async (context) => {
        await mayBeIdle(context);
        enter(null);
        await released;
      }),
    ],
    { prefetch: 1 },
  );
  const first = await publishRaw(world, validBody());
  await publishRaw(world, validBody());
  await entered;
  const closing = consumers.close();
  release(null);
  await closing;
  expect(await effects(world)).toEqual([first]);
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(1));
});

test('no handler works on more messages at once than its prefetch', async () => {
  let running = 0;
  let most = 0;
  const { promise: asManyAsMay, resolve: enough } = Promise.withResolvers<null>();
  world.consume(
    [
      recording(async ({ tx }) => {
        most = Math.max(most, ++running);
        if (running === 3) enough(null);
        await asManyAsMay;
        await tx.query('select pg_sleep(0.01)');
        running -= 1;
      }),
    ],
    { prefetch: 3 },
  );
  for (let count = 0; count < 30; count += 1) await publishRaw(world, validBody());
  await eventually(async () => expect(await effects(world)).toHaveLength(30));
  expect(most).toBe(3);
});

test('a handler that the topology does not know is refused at start', () => {
  const stranger = on(PaymentCreated, 'payment-created', async () => undefined);
  expect(() => world.consume([stranger])).toThrow('payments has no row payment-created for PaymentCreated');
});
