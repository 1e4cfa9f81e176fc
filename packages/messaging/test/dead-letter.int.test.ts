import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { countDeadLetters, findDeadLetter, listDeadLetters, redriveDeadLetters } from '../src/dead-letter.ts';
import { PermanentError } from '../src/handler.ts';
import { QUEUE, effects, publishRaw, queueSize, recording, startWorld, webhookConfigured } from './world.ts';
import type { World } from './world.ts';

// More than any wait inside a test, so that the wait's own error is what a failure shows.
jest.setTimeout(60_000);

let world: World;
let repaired: boolean;
beforeEach(async () => {
  world = await startWorld();
  repaired = false;
});
afterEach(() => world.close());

/** Three messages that a broken handler gave up, oldest first. */
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

test('looking at dead letters leaves them where they are, in their order', async () => {
  const messageIds = await threeDeadLetters();
  for (let look = 0; look < 30; look += 1) {
    expect(ids(await listDeadLetters(world.broker, { queue: QUEUE }))).toEqual(messageIds);
  }
  expect(ids(await listDeadLetters(world.broker, { limit: 2 }))).toEqual(messageIds.slice(0, 2));
  expect(await findDeadLetter(world.broker, { queue: QUEUE, messageId: messageIds[1]! })).toMatchObject({
    reason: 'permanent_error',
  });
  expect(await findDeadLetter(world.broker, { queue: QUEUE, messageId: 'none' })).toBeNull();
  expect(await countDeadLetters(world.broker)).toContainEqual({ queue: QUEUE, dead: 3 });
});

test('one dead letter can be redriven by its id, and takes effect', async () => {
  const messageIds = await threeDeadLetters();
  repaired = true;
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE, messageId: messageIds[1]! })).toEqual({ redriven: 1 });
  await eventually(async () => expect(await effects(world)).toEqual([messageIds[1]]));
  expect(ids(await listDeadLetters(world.broker))).toEqual([messageIds[0], messageIds[2]]);
});

test('all dead letters can be redriven, each once', async () => {
  const messageIds = await threeDeadLetters();
  repaired = true;
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE })).toEqual({ redriven: 3 });
  await eventually(async () => expect((await effects(world)).sort()).toEqual(messageIds.sort()));
  expect(await listDeadLetters(world.broker)).toEqual([]);
});

test('a redriven message that dies again keeps the time it was first seen, and is not redriven for ever', async () => {
  const messageIds = await threeDeadLetters();
  const before = await listDeadLetters(world.broker);
  expect(await redriveDeadLetters(world.broker, { queue: QUEUE })).toEqual({ redriven: 3 });
  await eventually(async () => expect(await queueSize(world, `${QUEUE}.dead`)).toBe(3));
  const after = await listDeadLetters(world.broker);
  expect(ids(after).sort()).toEqual(messageIds.sort());
  expect(after.map((letter) => letter.first_seen).sort()).toEqual(before.map((letter) => letter.first_seen).sort());
});

test('a queue that does not exist is named', async () => {
  await expect(listDeadLetters(world.broker, { queue: 'payments.nothing' })).rejects.toThrow(
    'There is no queue payments.nothing',
  );
});
