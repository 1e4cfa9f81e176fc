import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  discardDeadLetters,
  listDeadLetterActions,
  listDeadLetters,
  readQueues,
  redriveDeadLetters,
} from '../src/dead-letter/dead-letter.ts';
import { PermanentError } from '../src/consumer/handler.ts';
import {
  QUEUE,
  effects,
  publishRaw,
  queueSize,
  recording,
  startWorld,
  webhookConfigured,
  type World,
} from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
const author = { actor: 'olga', reason: 'the handler is fixed' };

let world: World;
let repaired: boolean;
beforeEach(async () => {
  world = await startWorld();
  repaired = false;
});
afterEach(() => world.close());

/** Three messages whose handler failed for good, oldest first. */
async function threeDeadLetters(): Promise<string[]> {
  world.consume([
    recording(() => {
      if (!repaired) throw new PermanentError('broken');
    }),
  ]);
  const messageIds: string[] = [];
  for (let count = 1; count <= 3; count += 1) {
    messageIds.push(await publishRaw(world, JSON.stringify(webhookConfigured())));
    await eventually(async () => expect(await queueSize(world, `${QUEUE}.dead`)).toBe(count));
  }
  return messageIds;
}

const ids = (letters: { message_id: string }[]): string[] => letters.map((letter) => letter.message_id);

test('reading dead letters leaves them where they are, in their order', async () => {
  const messageIds = await threeDeadLetters();
  for (let look = 0; look < 30; look += 1) {
    expect(ids(await listDeadLetters(world.broker, { queue: QUEUE }))).toEqual(messageIds);
  }
  expect(ids(await listDeadLetters(world.broker, { limit: 2 }))).toEqual(messageIds.slice(0, 2));
  expect((await listDeadLetters(world.broker, { queue: QUEUE, messageId: messageIds[1]! }))[0]).toMatchObject({
    reason: 'permanent_error',
  });
  expect(await listDeadLetters(world.broker, { queue: QUEUE, messageId: 'none' })).toEqual([]);
  expect(await readQueues(world.broker)).toContainEqual({ queue: QUEUE, dead: 3, consumers: 1 });
});

test('one dead letter can be redriven by its id, and takes effect', async () => {
  const messageIds = await threeDeadLetters();
  repaired = true;
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE, author, messageId: messageIds[1]! })).toBe(1);
  await eventually(async () => expect(await effects(world)).toEqual([messageIds[1]]));
  expect(ids(await listDeadLetters(world.broker))).toEqual([messageIds[0], messageIds[2]]);
});

test('all dead letters can be redriven, each once', async () => {
  const messageIds = await threeDeadLetters();
  repaired = true;
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE, author })).toBe(3);
  await eventually(async () => expect((await effects(world)).sort()).toEqual(messageIds.sort()));
  expect(await listDeadLetters(world.broker)).toEqual([]);
});

test('a redriven message that dies again keeps the time it was first seen, and is not redriven for ever', async () => {
  const messageIds = await threeDeadLetters();
  const before = await listDeadLetters(world.broker);
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE, author })).toBe(3);
  await eventually(async () => expect(await queueSize(world, `${QUEUE}.dead`)).toBe(3));
  const after = await listDeadLetters(world.broker);
  expect(ids(after).sort()).toEqual(messageIds.sort());
  expect(after.map((letter) => letter.first_seen).sort()).toEqual(before.map((letter) => letter.first_seen).sort());
});

test('only letters of the chosen cause and age are redriven', async () => {
  const messageIds = await threeDeadLetters();
  const strange = await publishRaw(world, 'no JSON');
  await eventually(async () => expect(await queueSize(world, `${QUEUE}.dead`)).toBe(4));
  const [, second] = await listDeadLetters(world.broker, { queue: QUEUE, cause: 'permanent_error' });
  expect(ids(await listDeadLetters(world.broker, { cause: 'invalid_message' }))).toEqual([strange]);
  const later = { queue: QUEUE, since: second!.first_seen! };
  expect(ids(await listDeadLetters(world.broker, later))).toEqual([messageIds[1], messageIds[2], strange]);
  const earlier = { queue: QUEUE, until: second!.first_seen! };
  expect(ids(await listDeadLetters(world.broker, earlier))).toEqual([messageIds[0]]);

  repaired = true;
  const chosen = { ...later, cause: 'permanent_error', author };
  expect(await redriveDeadLetters(world.broker, { ...chosen, limit: 1 })).toBe(1);
  await eventually(async () => expect(await effects(world)).toEqual([messageIds[1]]));
  expect(await redriveDeadLetters(world.broker, chosen)).toBe(1);
  await eventually(async () => expect(await effects(world)).toHaveLength(2));
  expect(ids(await listDeadLetters(world.broker))).toEqual([messageIds[0], strange]);
});

test('the oldest are redriven first, even when only some were read before', async () => {
  const messageIds = await threeDeadLetters();
  repaired = true;
  expect(ids(await listDeadLetters(world.broker, { queue: QUEUE, limit: 1 }))).toEqual([messageIds[0]]);
  await listDeadLetters(world.broker, { queue: QUEUE, messageId: messageIds[0]! });
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE, author, limit: 1 })).toBe(1);
  await eventually(async () => expect(await effects(world)).toEqual([messageIds[0]]));
});

test('the record has every redrive and discard with its author and its message', async () => {
  const messageIds = await threeDeadLetters();
  repaired = true;
  await redriveDeadLetters(world.broker, { queue: QUEUE, author, messageId: messageIds[0]! });
  const other = { actor: 'pavel', reason: 'a test message' };
  expect(await discardDeadLetters(world.broker, { queue: QUEUE, author: other })).toBe(2);
  expect(await listDeadLetters(world.broker)).toEqual([]);
  for (let look = 0; look < 2; look += 1) {
    expect(await listDeadLetterActions(world.broker, { queue: QUEUE })).toMatchObject([
      { action: 'discard', ...other, letter: { message_id: messageIds[2] } },
      { action: 'discard', ...other, letter: { message_id: messageIds[1], name: 'WebhookConfigured' } },
      { action: 'redrive', ...author, letter: { message_id: messageIds[0], queue: QUEUE } },
    ]);
  }
  const [newest] = await listDeadLetterActions(world.broker, { limit: 1 });
  expect(JSON.parse(newest!.letter.body)).toHaveProperty('merchant_id');
  await eventually(async () => expect(await effects(world)).toEqual([messageIds[0]]));
});

test('a queue that does not exist is named', async () => {
  await expect(listDeadLetters(world.broker, { queue: 'payments.nothing' })).rejects.toThrow(
    'There is no queue payments.nothing',
  );
});
