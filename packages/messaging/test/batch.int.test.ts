import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WebhookConfigured } from '@quittance/contracts/messages.ts';
import { currentRequestId } from '@quittance/runtime/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { listDeadLetters } from '../src/dead-letter/dead-letter.ts';
import { Busy, type Handler, PermanentError } from '../src/consumer/handler.ts';
import { DELIVERY_LIMIT } from '../src/broker/topology.ts';
import {
  QUEUE,
  affectedMerchants,
  countingArrivals,
  mayBeIdle,
  publishRaw,
  queueSize,
  recordingBatches,
  results,
  startWorld,
  attempts,
  webhookConfigured,
  type World,
} from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

type Published = { merchantId: string; messageId: string };

async function publish(options: { messageId?: string; requestId?: string } = {}): Promise<Published> {
  const message = webhookConfigured();
  return { merchantId: message.merchant_id, messageId: await publishRaw(world, JSON.stringify(message), options) };
}

function publishMany(count: number): Promise<Published[]> {
  return Promise.all(Array.from({ length: count }, () => publish()));
}

const merchantsOf = (published: readonly Published[]): string[] => published.map(({ merchantId }) => merchantId);

/** Keeps the first batch in its transaction, so that the messages that arrive then are collected. */
function heldUp(
  then: (merchantIds: string[]) => Promise<void> | void = () => undefined,
  options: { prefetch?: number } = {},
  refuse: (payloads: WebhookConfigured[]) => void = () => undefined,
) {
  const { promise: released, resolve: release } = Promise.withResolvers<null>();
  const batches: string[][] = [];
  const requestIds: (string | undefined)[] = [];
  const recorded = recordingBatches(async (merchantIds, context) => {
    await mayBeIdle(context);
    batches.push(merchantIds);
    requestIds.push(currentRequestId());
    await (batches.length === 1 ? released : then(merchantIds));
  });
  const { handler, haveCome } = countingArrivals(recorded);
  const handle: Handler['handle'] = async (messages, context) => {
    refuse(messages.map(({ payload }) => payload as WebhookConfigured));
    await handler.handle(messages, context);
  };
  const consumers = world.consume([{ ...handler, handle }], options);
  const inTransaction = () => eventually(() => expect(batches).toHaveLength(1));
  return { batches, requestIds, consumers, release: () => release(null), inTransaction, haveCome };
}

/** Far longer than a message takes that does not have to wait. */
const WOULD_BE_HANDLED_MS = 300;

test("messages that arrive during their handler's spacing wait for its end, and return to the queue when the process stops", async () => {
  const { handler, haveCome } = countingArrivals(recordingBatches());
  const spaced = { ...handler, message: { ...handler.message, spacingMs: 1_000_000 } };
  const consumers = world.consume([spaced]);
  const first = await publish();
  await eventually(async () => expect(await results(world)).toEqual({ done: 1 }));
  await publishMany(2);
  await haveCome(3);
  await pause(WOULD_BE_HANDLED_MS);
  expect(await affectedMerchants(world)).toEqual([first.merchantId]);
  await consumers.close();
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(2));
});

describe('messages that come while a batch is in its transaction', () => {
  test('go together in the next one, in order, and a lone message does not wait', async () => {
    const { batches, release, inTransaction, haveCome } = heldUp();
    const first = await publish();
    await inTransaction();
    const others = await publishMany(20);
    await haveCome(21);
    release();
    await eventually(async () => expect(await results(world)).toEqual({ done: 21 }));
    expect(batches).toEqual([[first.merchantId], merchantsOf(others)]);
    expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf([first, ...others]).toSorted());
    expect(await attempts(world)).toBe(2);
  });

  test('are at most 200 at once', async () => {
    const { batches, release, inTransaction, haveCome } = heldUp();
    await publish();
    await inTransaction();
    await publishMany(420);
    await haveCome(400);
    release();
    await eventually(async () => expect(await results(world)).toEqual({ done: 421 }));
    expect(batches.slice(0, 2).map(({ length }) => length)).toEqual([1, 200]);
    expect(Math.max(...batches.map(({ length }) => length))).toBe(200);
  });

  test('are never more than the prefetch', async () => {
    const { batches, release, inTransaction, haveCome } = heldUp(undefined, { prefetch: 3 });
    await publish();
    await inTransaction();
    await publishMany(10);
    await haveCome(3);
    release();
    await eventually(async () => expect(await results(world)).toEqual({ done: 11 }));
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(3);
  });

  test('have one effect for each message id, copies in one batch and of an earlier batch included', async () => {
    const { batches, release, inTransaction, haveCome } = heldUp();
    const first = await publish();
    await inTransaction();
    const second = await publish();
    for (const { messageId } of [second, first, second]) await publish({ messageId });
    await haveCome(5);
    release();
    await eventually(async () => expect(await results(world)).toEqual({ done: 2, duplicate: 3 }));
    expect(batches).toEqual([[first.merchantId], [second.merchantId]]);
    expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf([first, second]).toSorted());
  });

  test('go back to the queue when the process stops, and the batch in its transaction is finished', async () => {
    const { batches, consumers, release, inTransaction, haveCome } = heldUp();
    const first = await publish();
    await inTransaction();
    await publishMany(5);
    await haveCome(6);
    const closing = consumers.close();
    release();
    await closing;
    expect(batches).toHaveLength(1);
    expect(await affectedMerchants(world)).toEqual([first.merchantId]);
    await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(5));
  });
});

describe('one failing message', () => {
  test.each([
    ['that can never be handled', (): Error => new PermanentError('no such payment'), 'permanent_error', 2],
    ['whose handler always fails', (): Error => new Error('never'), 'retries_exhausted', DELIVERY_LIMIT + 2],
  ])('%s becomes a dead letter, and the others of its batch have one effect', async (_, fail, reason, itsTries) => {
    let poison = '';
    const { batches, release, inTransaction, haveCome } = heldUp((merchantIds) => {
      if (merchantIds.includes(poison)) throw fail();
    });
    const first = await publish();
    await inTransaction();
    const others = await publishMany(4);
    const bad = await publish();
    poison = bad.merchantId;
    others.push(...(await publishMany(4)));
    await haveCome(10);
    release();
    await eventually(async () =>
      expect(await listDeadLetters(world.broker)).toMatchObject([{ message_id: bad.messageId, reason }]),
    );
    await eventually(async () => expect((await results(world)).done).toBe(9));
    expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf([first, ...others]).toSorted());
    expect(await queueSize(world, QUEUE)).toBe(0);
    // Once with the others, and from then on alone.
    const withIt = batches.filter((merchantIds) => merchantIds.includes(poison));
    expect(withIt.map(({ length }) => length)).toEqual([9, ...Array.from({ length: itsTries - 1 }, () => 1)]);
  });

  test('that arrived alone is tried once a delivery', async () => {
    world.consume([
      recordingBatches(() => {
        throw new PermanentError('no such payment');
      }),
    ]);
    const { messageId } = await publish();
    await eventually(async () =>
      expect(await listDeadLetters(world.broker)).toMatchObject([{ message_id: messageId }]),
    );
    expect(await attempts(world)).toBe(1);
  });

  test('that failed before is handled alone', async () => {
    const bad = await publish();
    const taken = await eventually(async () => {
      const message = await world.channel.get(QUEUE);
      if (message === false) throw new Error('not there yet');
      return message;
    });
    world.channel.reject(taken, true);
    const others = await publishMany(9);
    const batches: string[][] = [];
    world.consume([recordingBatches((merchantIds) => void batches.push(merchantIds))]);
    await eventually(async () => expect(await results(world)).toEqual({ done: 10 }));
    expect(batches).toContainEqual([bad.merchantId]);
    expect(batches.flat().toSorted()).toEqual(merchantsOf([bad, ...others]).toSorted());
  });

  test('with a broken schema becomes a dead letter, and the others go together', async () => {
    const { batches, release, inTransaction, haveCome } = heldUp();
    await publish();
    await inTransaction();
    const before = await publishMany(2);
    const poison = await publishRaw(world, '{"merchant_id":"mer_1"}');
    const after = await publishMany(2);
    await haveCome(6);
    const dead = { message_id: poison, reason: 'invalid_message', request_id: 'request-1' };
    await eventually(async () => expect(await listDeadLetters(world.broker)).toMatchObject([dead]));
    release();
    await eventually(async () => expect((await results(world)).done).toBe(5));
    expect(batches[1]).toEqual(merchantsOf([...before, ...after]));
  });

  test('that waits for a lock delays neither its batch nor the next one', async () => {
    await world.pool.query('create table gate ()');
    await world.pool.query('insert into gate default values');
    let stuck = '';
    const { promise: released, resolve: release } = Promise.withResolvers<null>();
    let batches = 0;
    const handler = recordingBatches(async (merchantIds, { tx }) => {
      batches += 1;
      if (batches === 1) {
        await mayBeIdle({ tx });
        await released;
      }
      if (merchantIds.includes(stuck)) await tx.query('select 1 from gate for update');
    });
    world.consume([handler]);
    const locker = await world.pool.connect();
    try {
      await locker.query('begin; set local idle_in_transaction_session_timeout = 0; select 1 from gate for update');
      const others = [await publish()];
      await eventually(() => expect(batches).toBe(1));
      others.push(...(await publishMany(3)));
      const waiting = await publish();
      stuck = waiting.merchantId;
      await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(0));
      release(null);
      const othersAreDone = () =>
        eventually(async () =>
          expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf(others).toSorted()),
        );
      await othersAreDone();
      others.push(await publish());
      await othersAreDone();
      await locker.query('rollback');
    } finally {
      locker.release(true);
    }
    await eventually(async () => expect(await affectedMerchants(world)).toContain(stuck));
    await eventually(async () => expect(await results(world)).toEqual({ done: 6 }));
  });
});

describe('messages that wait for a lock', () => {
  test('are put aside without a connection, however often, while the others of their batch continue', async () => {
    const busy = new Set<string>();
    let refusals = 0;
    const { release, inTransaction, haveCome, batches } = heldUp(undefined, {}, (payloads) => {
      const waiting = payloads.filter(({ merchant_id }) => busy.has(merchant_id));
      refusals += waiting.length;
      if (waiting.length > 0) throw new Busy(waiting);
    });
    const others = [await publish()];
    await inTransaction();
    const waiting = await publishMany(3);
    for (const merchantId of merchantsOf(waiting)) busy.add(merchantId);
    others.push(...(await publishMany(3)));
    await haveCome(7);
    release();
    await eventually(async () =>
      expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf(others).toSorted()),
    );
    expect(batches[1]).toEqual(merchantsOf(others.slice(1)));
    // More often than a message may fail.
    await eventually(() => expect(refusals).toBeGreaterThan(waiting.length * DELIVERY_LIMIT));
    busy.clear();
    await eventually(async () =>
      expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf([...others, ...waiting]).toSorted()),
    );
    await eventually(async () => expect(await results(world)).toMatchObject({ done: 7 }));
    expect((await results(world)).failed).toBeUndefined();
  });

  test('return to their queue when the process stops', async () => {
    const handler = recordingBatches();
    const consumers = world.consume([
      { ...handler, handle: (messages) => Promise.reject(new Busy(messages.map(({ payload }) => payload))) },
    ]);
    await publishMany(2);
    await eventually(async () => expect((await results(world)).postponed).toBeGreaterThan(2));
    await consumers.close();
    await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(2));
  });
});

test('a database outage counts against no message of a batch', async () => {
  const sizes: number[] = [];
  world.consume([recordingBatches((merchantIds) => void sizes.push(merchantIds.length))], { pool: world.proxiedPool });
  world.databaseProxy.cut();
  const published = await publishMany(10);
  await eventually(async () => expect(await attempts(world)).toBeGreaterThan(2 * DELIVERY_LIMIT));
  world.databaseProxy.restore();
  await eventually(async () => expect(await results(world)).toEqual({ done: 10 }));
  expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf(published).toSorted());
  expect(sizes.length).toBeLessThan(10);
});

test('after a lost connection every message still takes effect once', async () => {
  world.consume([recordingBatches()], { prefetch: 8 });
  const published: Published[] = [];
  for (let count = 0; count < 60; count += 1) {
    if (count % 10 === 5) {
      world.brokerProxy.cut();
      world.brokerProxy.restore();
    }
    published.push(await publish());
  }
  await eventually(async () =>
    expect((await affectedMerchants(world)).toSorted()).toEqual(merchantsOf(published).toSorted()),
  );
});

test('the work for one message has the id of its request, and a batch of several has a new id', async () => {
  const { requestIds, release, inTransaction, haveCome } = heldUp((merchantIds) => {
    if (merchantIds.length > 1) throw new Error('not together');
  });
  await publish({ requestId: 'request-of-the-first' });
  await inTransaction();
  await publish({ requestId: 'request-a' });
  await publish({ requestId: 'request-b' });
  await haveCome(3);
  release();
  await eventually(async () => expect(await results(world)).toEqual({ done: 3 }));
  const [first, together, ...alone] = requestIds;
  expect(first).toBe('request-of-the-first');
  expect(together).toMatch(/^[0-9a-f-]{36}$/);
  expect(alone.toSorted()).toEqual(['request-a', 'request-b']);
});
