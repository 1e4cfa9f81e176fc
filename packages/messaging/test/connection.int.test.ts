import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { WebhookConfigured } from '@quittance/contracts/messages.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { connectBroker } from '../src/broker/broker.ts';
import { newMessageId } from '../src/broker/amqp-message.ts';
import { bindings, deadQueueOf, EXCHANGE } from '../src/broker/topology.ts';
import { connected, queueSize, startWorld, type World } from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

test('the connection sends small packets without delay', async () => {
  const setNoDelay = jest.spyOn(Socket.prototype, 'setNoDelay');
  await connected(world.connect(world.brokerUrl));
  expect(setNoDelay).toHaveBeenCalledWith(true);
  expect(setNoDelay).not.toHaveBeenCalledWith(false);
  setNoDelay.mockRestore();
});

test('messages published in one turn leave together', async () => {
  const writes = jest.spyOn(Socket.prototype, '_writev');
  const properties = { messageId: newMessageId() };
  const message = { exchange: EXCHANGE, routingKey: WebhookConfigured.name, body: Buffer.from('{}'), properties };
  const outcomes = await world.broker.publish(Array.from({ length: 20 }, () => message));
  const frames = writes.mock.calls.map(([chunks]) => chunks.length);
  writes.mockRestore();
  expect(new Set(outcomes)).toEqual(new Set(['confirmed']));
  expect(Math.max(0, ...frames)).toBeGreaterThanOrEqual(20);
});

test('whichever service starts first declares the queues of all', async () => {
  for (const { queue } of bindings) {
    expect(await queueSize(world, queue)).toBe(0);
    expect(await queueSize(world, deadQueueOf(queue))).toBe(0);
  }
});

test('connectBroker returns immediately without a broker, and connects when there is one', async () => {
  world.brokerProxy.cut();
  const broker = world.connect(world.brokerProxy.url);
  expect(broker.ready()).toBe(false);
  world.brokerProxy.restore();
  await connected(broker);
});

test('a broker that was never reached can be closed', async () => {
  world.brokerProxy.cut();
  const broker = world.connect(world.brokerProxy.url);
  await broker.close();
  expect(broker.ready()).toBe(false);
});

test('whether RabbitMQ is connected shows in the metrics', async () => {
  const gauge = world.metrics.registry.getSingleMetric('messaging_broker_connected');
  const values = async () => (await gauge?.get())?.values.map(({ value }) => value);
  expect(await values()).toEqual([1, 1]);
  world.brokerProxy.cut();
  await eventually(async () => expect(await values()).toEqual([0, 0]));
});

test('no log line repeats the password of the URL', async () => {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', level: 'trace' }, { write: (line) => void lines.push(line) });
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const url = new URL(world.brokerUrl);
  url.password = 'canary';
  const broker = connectBroker({ url: url.href, name: 'test', logger, metrics });
  await eventually(() => expect(lines.join('')).toContain('ACCESS_REFUSED'));
  await broker.close();
  expect(lines.join('')).not.toContain('canary');
  expect(() => connectBroker({ url: 'canary', name: 'test', logger, metrics })).toThrow(
    /^must be a URL with amqp: or amqps:/,
  );
});
