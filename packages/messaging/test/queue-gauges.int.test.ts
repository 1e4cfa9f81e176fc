import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { PermanentError } from '../src/consumer/handler.ts';
import { startQueueGauges } from '../src/broker/queue-gauges.ts';
import { QUEUE, publishRaw, recording, sendMessage, startWorld, webhookConfigured, type World } from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
let world: World;
let close: () => Promise<void>;
beforeEach(async () => {
  world = await startWorld();
  const { broker, metrics } = world;
  const gauges = startQueueGauges({ broker, metrics, logger: testLogger, queues: [QUEUE], intervalMs: 50 });
  close = () => gauges.close();
});
afterEach(async () => {
  await close();
  await world.close();
});

/** The reported values of the queue; undefined when there are none. */
async function shown(): Promise<{ ready?: number; consumers?: number; dead?: number }> {
  const samples = await samplesOf(world.metrics);
  const of = (name: string) => samples.find((one) => one.name === name && one.labels['queue'] === QUEUE)?.value;
  const [ready, consumers] = [of('messaging_queue_messages_ready'), of('messaging_queue_consumers')];
  return { ready, consumers, dead: of('messaging_dead_letters') } as Awaited<ReturnType<typeof shown>>;
}

const becomes = (expected: Awaited<ReturnType<typeof shown>>) =>
  eventually(async () => expect(await shown()).toEqual(expected));

test('the messages, consumers and dead letters of a queue are reported', async () => {
  await becomes({ ready: 0, consumers: 0, dead: 0 });
  await publishRaw(world, JSON.stringify(webhookConfigured()));
  await becomes({ ready: 1, consumers: 0, dead: 0 });
  const broken = recording(() => {
    throw new PermanentError('broken');
  });
  world.consume([broken]);
  await becomes({ ready: 0, consumers: 1, dead: 1 });
});

test('while RabbitMQ is away the numbers do not change, and they are correct again once it is back', async () => {
  await publishRaw(world, JSON.stringify(webhookConfigured()));
  await becomes({ ready: 1, consumers: 0, dead: 0 });
  world.brokerProxy.cut();
  await publishRaw(world, JSON.stringify(webhookConfigured()));
  await eventually(() => expect(world.broker.consuming.state()).toBe('connecting'));
  expect(await shown()).toEqual({ ready: 1, consumers: 0, dead: 0 });
  world.brokerProxy.restore();
  await becomes({ ready: 2, consumers: 0, dead: 0 });
});

test('the age of a message is observed when it arrives, and every result has a series before the first message', async () => {
  world.consume([recording()]);
  const ages = async () => {
    const samples = await samplesOf(world.metrics);
    return samples.find(({ name }) => name === 'messaging_message_age_seconds_count')?.value;
  };
  expect(await ages()).toBe(0);
  const results = (await samplesOf(world.metrics)).filter(({ name }) => name === 'messaging_consumed_total');
  expect(results.map(({ labels, value }) => [labels['result'], value]).sort()).toEqual(
    ['abandoned', 'dead', 'done', 'duplicate', 'failed', 'postponed', 'requeued'].map((result) => [result, 0]),
  );
  await sendMessage(world, world.outbox());
  await eventually(async () => expect(await ages()).toBe(1));
});
