import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import { type TestBroker, testBroker } from '@quittance/testkit/broker.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { createPool } from '@quittance/postgres/pool.ts';
import { AccessChanged, WebhookConfigured } from '@quittance/contracts/messages.ts';
import { connectBroker } from '../src/broker/broker.ts';
import { prepareBroker } from '../src/broker/set-up.ts';
import { queueArguments } from '../src/broker/topology.ts';
import { startConsumers } from '../src/consumer/consumer.ts';
import { on } from '../src/consumer/handler.ts';
import { messagingMigrations } from '../src/schema/service-schema.ts';
import { webhookConfigured } from './world.ts';

const QUEUE = 'payments.webhook-configured';
const OTHER = 'payments.access-changed';

let broker: TestBroker;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  broker = await testBroker();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await broker.close();
});

/** A queue that was declared before any of our processes started. */
async function make(args: object, durable = true): Promise<void> {
  const connection = await connect(broker.url);
  const channel = await connection.createChannel();
  await channel.assertQueue(QUEUE, { durable, arguments: args });
  await connection.close();
}

/** A service that consumes both queues. @returns the merchants in its messages, and its metrics. */
async function start() {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const common = { logger: testLogger, metrics };
  const database = await testDatabase({ schema: 'payments', migrations: [messagingMigrations] });
  const pool = createPool({
    ...common,
    url: database.url,
    schema: 'payments',
    max: 5,
    applicationName: 'foreign queues',
  });
  const connected = connectBroker({ ...common, url: broker.url, name: 'test' });
  const received: string[] = [];
  const handlers = [
    on(WebhookConfigured, 'webhook-configured', ({ merchant_id: id }) => {
      received.push(id);
      return Promise.resolve();
    }),
    on(AccessChanged, 'access-changed', () => Promise.resolve()),
  ];
  const consumers = startConsumers({
    ...{ ...common, pool, broker: connected, service: 'payments', handlers, trust: sharedTrust() },
  });
  closing.push(async () => {
    await consumers.close();
    await connected.close();
    await pool.end();
    await database.drop();
  });
  const named = () => [...connected.unusableQueues];
  const unusable = async (queue: string) =>
    new RegExp(`queue="${queue}".* (\\d)$`, 'm').exec(
      await metrics.registry.getSingleMetricAsString('messaging_queue_unusable'),
    )?.[1];
  return { received, unusable, named };
}

async function publish(): Promise<string> {
  const connection = await connect(broker.url);
  const channel = await connection.createConfirmChannel();
  const body = webhookConfigured();
  channel.sendToQueue(QUEUE, Buffer.from(JSON.stringify(body)), {
    ...{ messageId: crypto.randomUUID(), type: 'WebhookConfigured', headers: { version: 1 }, persistent: true },
  });
  await channel.waitForConfirms();
  await connection.close();
  return body.merchant_id;
}

async function consumersOf(queue: string): Promise<number> {
  const connection = await connect(broker.url);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const { consumerCount } = await channel.checkQueue(queue).catch(() => ({ consumerCount: 0 }));
  await connection.close();
  return consumerCount;
}

const ours = queueArguments(QUEUE);
const { 'x-dead-letter-strategy': _strategy, ...atMostOnce } = ours;

describe('a queue with other safe arguments is consumed as it is', () => {
  test.each<[string, object]>([
    ['with another delivery limit', { ...ours, 'x-delivery-limit': 5 }],
    ['with another dead-letter strategy', atMostOnce],
    ['with another place for its dead letters', { ...ours, 'x-dead-letter-exchange': 'elsewhere' }],
    ['with a length limit that refuses further messages', { ...ours, 'x-max-length': 1_000_000 }],
    ['of another type', { 'x-queue-type': 'classic', 'x-dead-letter-exchange': 'quittance.dead' }],
  ])('%s', async (_what, args) => {
    await make(args);
    const { received, unusable, named } = await start();
    await eventually(async () => expect(await consumersOf(QUEUE)).toBe(1));
    const merchant = await publish();
    await eventually(() => expect(received).toEqual([merchant]));
    expect(await unusable(QUEUE)).toBe('0');
    expect(named()).toEqual([]);
  });
});

test.each([
  ['quittance', 'fanout'],
  ['quittance.dead', 'topic'],
])('an exchange %s of type %s is refused by the preparation of RabbitMQ, by its name', async (exchange, type) => {
  const connection = await connect(broker.url);
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, type, { durable: true });
  const preparing = prepareBroker(broker.url, null, testLogger);
  await expect(preparing).rejects.toThrow(`did not let this user declare ${exchange}. `);
  await channel.deleteExchange(exchange);
  await prepareBroker(broker.url, null, testLogger);
  await connection.close();
});

describe('a queue that could lose messages is not consumed, and all others are', () => {
  test.each<[string, object, boolean?]>([
    ['that drops messages after a time', { ...ours, 'x-message-ttl': 60_000 }],
    ['that drops the oldest', { ...atMostOnce, 'x-overflow': 'drop-head', 'x-max-length': 1_000_000 }],
    ['that is deleted when it is unused', { ...ours, 'x-expires': 3_600_000 }],
    ['without a dead-letter exchange', { 'x-queue-type': 'quorum' }],
    [
      'that does not survive a restart',
      { 'x-queue-type': 'classic', 'x-dead-letter-exchange': 'quittance.dead' },
      false,
    ],
  ])('%s', async (_what, args, durable = true) => {
    await make(args, durable);
    const { received, unusable, named } = await start();
    await eventually(async () => expect(await unusable(QUEUE)).toBe('1'));
    expect(named()).toEqual([QUEUE]);
    await eventually(async () => expect(await consumersOf(OTHER)).toBe(1));
    await publish();
    expect(await consumersOf(QUEUE)).toBe(0);
    expect(received).toEqual([]);
  });

  test('until it is fixed', async () => {
    await make({ ...ours, 'x-message-ttl': 60_000 });
    const { received, unusable } = await start();
    await eventually(async () => expect(await unusable(QUEUE)).toBe('1'));
    await broker.manage('DELETE', `/api/queues/${broker.vhost}/${QUEUE}`);
    await eventually(async () => expect(await unusable(QUEUE)).toBe('0'));
    await eventually(async () => expect(await consumersOf(QUEUE)).toBe(1));
    const merchant = await publish();
    await eventually(() => expect(received).toEqual([merchant]));
  });
});
