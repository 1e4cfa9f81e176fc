import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { sharedTrust, signingKeys, trustOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import { signMessages } from '../src/broker/signature.ts';
import { countUnsignedDeadLetters, listDeadLetters, redriveDeadLetters } from '../src/dead-letter/dead-letter.ts';
import { effects, publishRaw, QUEUE, recording, sendMessage, startWorld, validBody, type World } from './world.ts';

/** WebhookConfigured is published by webhook-dispatcher, and consumed by payments. */
const publisher: KeyHolder = 'webhook-dispatcher';
const trust = trustOf('payments');
const author = { actor: 'olga', reason: 'a test' };

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const lettersOf = () => listDeadLetters(world.broker, { queue: QUEUE });
const messageId = '01a21adc-1325-7b92-91a8-332532890d12';

async function publishSignedBy(name: KeyHolder, body = validBody()): Promise<string> {
  const message = { name: 'WebhookConfigured', version: 1, messageId, body: Buffer.from(body) };
  const [signature] = signMessages(trustOf(name).signer!, [message]);
  return publishRaw(world, body, { messageId, headers: { signature } });
}

test("messages sent through a service's outbox take effect, one by one and many together", async () => {
  world.consume([recording()], { trust });
  const { signer } = trustOf(publisher);
  const outbox = world.outbox({ signer: signer! });
  const sent: string[] = [];
  for (let index = 0; index < 40; index += 1) sent.push(await sendMessage(world, outbox));
  await eventually(async () => expect((await effects(world)).sort()).toEqual(sent.sort()));
  expect(await lettersOf()).toEqual([]);
});

describe('a message is a dead letter immediately, with its own cause, and the next one is processed', () => {
  const others = (Object.keys(signingKeys) as KeyHolder[]).filter((name) => name !== publisher);

  test.each<[string, () => Promise<string>]>([
    ['that is not signed', () => publishRaw(world, validBody(), { messageId })],
    ...others.map((name): [string, () => Promise<string>] => [`that ${name} signed`, () => publishSignedBy(name)]),
    ['that is not JSON either', () => publishRaw(world, '{', { messageId })],
  ])('%s', async (_what, publish) => {
    world.consume([recording()], { trust });
    await publish();
    const outbox = world.outbox({ signer: trustOf(publisher).signer! });
    const genuine = await sendMessage(world, outbox);
    await eventually(async () => expect(await effects(world)).toEqual([genuine]));
    const letters = await eventually(async () => {
      const found = await lettersOf();
      expect(found).toHaveLength(1);
      return found;
    });
    expect(letters[0]).toMatchObject({ message_id: messageId, reason: 'not_signed' });
    expect(await world.metrics.registry.getSingleMetricAsString('messaging_dead_lettered_total')).toMatch(
      /reason="not_signed".* 1$/m,
    );
  });

  test('and is one again when it is redriven, while a genuine one takes effect then', async () => {
    let isBroken = true;
    world.consume(
      [
        recording(() => {
          if (isBroken) throw new TypeError('not yet');
        }),
      ],
      { trust },
    );
    const outbox = world.outbox({ signer: trustOf(publisher).signer! });
    const genuine = await sendMessage(world, outbox);
    await publishRaw(world, validBody(), { messageId });
    await eventually(async () => expect(await lettersOf()).toHaveLength(2));
    isBroken = false;
    expect(await redriveDeadLetters(world.broker, { queue: QUEUE, author })).toBe(2);
    await eventually(async () => expect(await effects(world)).toEqual([genuine]));
    await eventually(async () =>
      expect(await lettersOf()).toMatchObject([{ message_id: messageId, reason: 'not_signed' }]),
    );
  });
});

test('with a shared token an unsigned message is accepted and recorded, and a signed one is accepted without a record', async () => {
  const noted: string[] = [];
  const legacy = { accepted: (kind: string) => void noted.push(kind) };
  world.consume([recording()], { trust: { ...trust, sharedTokens: sharedTrust().sharedTokens }, legacy });
  const genuine = await sendMessage(world, world.outbox({ signer: trustOf(publisher).signer! }));
  await eventually(async () => expect(await effects(world)).toEqual([genuine]));
  expect(noted).toEqual([]);
  await publishRaw(world, validBody(), { messageId });
  await eventually(async () => expect(await effects(world)).toHaveLength(2));
  expect(noted).toEqual(['unsigned_message']);
});

test('unsigned dead letters are counted by queue', async () => {
  world.consume([recording()], { trust });
  expect(await countUnsignedDeadLetters(world.broker)).toEqual([]);
  await publishSignedBy('quota');
  await eventually(async () => expect(await lettersOf()).toHaveLength(1));
  expect(await countUnsignedDeadLetters(world.broker)).toEqual([]);
  await publishRaw(world, validBody(), { messageId: messageId.replace(/d$/, 'e') });
  await publishRaw(world, validBody(), { messageId });
  await eventually(async () => expect(await lettersOf()).toHaveLength(3));
  expect(await countUnsignedDeadLetters(world.broker)).toEqual([{ queue: QUEUE, dead: 2 }]);
});
