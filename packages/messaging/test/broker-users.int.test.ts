import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { type TestBroker, testBroker } from '@quittance/testkit/broker.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { prepareQueue } from '../src/broker/declare.ts';
import { brokerUsers, prepareBroker, type BrokerUser, urlOfUser } from '../src/broker/set-up.ts';
import { ACTIONS_QUEUE, bindings, DEAD_EXCHANGE, deadQueueOf, EXCHANGE } from '../src/broker/topology.ts';
import { declareActionsQueue } from '../src/dead-letter/actions.ts';

/** Users belong to the whole broker, which other tests share: they keep these passwords. */
const passwordOf = (user: BrokerUser): string => `the password of ${user} in tests`;
const passwords = Object.fromEntries(brokerUsers.map((user) => [user, passwordOf(user)])) as Record<BrokerUser, string>;

let broker: TestBroker;
const connections = new Map<BrokerUser, ChannelModel>();

beforeAll(async () => {
  broker = await testBroker();
  const managementUrl = process.env['TEST_AMQP_MANAGEMENT_URL']!;
  const prepare = () => prepareBroker(broker.url, { managementUrl, passwords }, testLogger);
  await prepare();
  // Repeating it changes nothing.
  await prepare();
  for (const user of brokerUsers)
    connections.set(user, await connect(urlOfUser(broker.url, user, passwords[user]), { noDelay: true }));
});
afterAll(async () => {
  await Promise.all([...connections.values()].map((connection) => connection.close()));
  await broker.close();
});

/** @returns 'done', or the code of RabbitMQ's refusal. */
async function attempt(user: BrokerUser, run: (channel: Channel) => Promise<unknown>): Promise<number | 'done'> {
  const channel = await connections.get(user)!.createConfirmChannel();
  const failed = new Promise<number>((resolve) => channel.on('error', ({ code }: { code: number }) => resolve(code)));
  const done = run(channel).then(
    () => 'done' as const,
    () => failed,
  );
  const outcome = await Promise.race([done, failed]);
  await channel.close().catch(() => undefined);
  return outcome;
}

/** Publishes, and waits for the confirm. */
const publish = (exchange: string, key: string) => async (channel: Channel) => {
  channel.publish(exchange, key, Buffer.from('{}'));
  await (channel as unknown as { waitForConfirms(): Promise<void> }).waitForConfirms();
};

describe.each(serviceNames)('the user of %s', (service) => {
  const own = bindings.filter((row) => row.service === service);
  const others = bindings.filter((row) => row.service !== service);

  test('prepares, reads and empties its own queues, and publishes', async () => {
    for (const binding of own) {
      await prepareQueue(connections.get(service)!, binding);
      expect(await attempt(service, (channel) => channel.consume(binding.queue, () => undefined))).toBe('done');
      expect(await attempt(service, publish(DEAD_EXCHANGE, binding.queue))).toBe('done');
      expect(await attempt(service, publish('', binding.queue))).toBe('done');
    }
    for (const { message } of bindings)
      expect([message.name, await attempt(service, publish(EXCHANGE, message.name))]).toEqual([
        message.name,
        message.published_by === service ? 'done' : 403,
      ]);
  });

  test('receives only the messages of its own queues', async () => {
    const own = bindings.filter((row) => row.service === service);
    for (const { queue } of own) {
      const received = own.map(({ message }) => message.name);
      const foreign = bindings.map(({ message }) => message.name).filter((name) => !received.includes(name));
      for (const key of ['#', '*', '', ...foreign]) {
        const outcome = await attempt(service, (channel) => channel.bindQueue(queue, EXCHANGE, key));
        expect([key, outcome]).toEqual([key, 403]);
      }
      for (const { queue: key } of bindings)
        expect(await attempt(service, (channel) => channel.bindQueue(queue, DEAD_EXCHANGE, key))).toBe(403);
    }
    expect(await attempt(service, (channel) => channel.bindExchange(DEAD_EXCHANGE, EXCHANGE, '#'))).toBe(403);
    expect(await attempt(service, (channel) => channel.bindExchange(EXCHANGE, DEAD_EXCHANGE, '#'))).toBe(403);
  });

  test('reads, empties, deletes and declares no queue of another service', async () => {
    for (const queue of others.flatMap((row) => [row.queue, deadQueueOf(row.queue)])) {
      expect([queue, await attempt(service, (channel) => channel.get(queue))]).toEqual([queue, 403]);
      expect(await attempt(service, (channel) => channel.purgeQueue(queue))).toBe(403);
      expect(await attempt(service, (channel) => channel.deleteQueue(queue))).toBe(403);
      expect(await attempt(service, (channel) => channel.bindQueue(queue, EXCHANGE, 'x'))).toBe(403);
    }
    for (const queue of own.map((row) => deadQueueOf(row.queue))) {
      expect(await attempt(service, (channel) => channel.deleteQueue(queue))).toBe(403);
      expect(await attempt(service, (channel) => channel.bindQueue(queue, EXCHANGE, 'PaymentCreated'))).toBe(403);
    }
    expect(await attempt(service, (channel) => channel.assertQueue('mine'))).toBe(403);
    expect(await attempt(service, (channel) => channel.assertQueue(`${service}.mine`))).toBe(403);
    expect(await attempt(service, (channel) => channel.assertQueue(''))).toBe(403);
  });

  test('declares and deletes no exchange', async () => {
    expect(await attempt(service, (channel) => channel.deleteExchange(EXCHANGE))).toBe(403);
    expect(await attempt(service, (channel) => channel.deleteExchange(DEAD_EXCHANGE))).toBe(403);
    expect(await attempt(service, (channel) => channel.assertExchange('other', 'topic'))).toBe(403);
  });
});

test('the user of operators reads dead letters, sends them back and writes the record, and nothing more', async () => {
  for (const { queue } of bindings) {
    expect(await attempt('operator', (channel) => channel.get(deadQueueOf(queue)))).toBe('done');
    expect(await attempt('operator', publish('', queue))).toBe('done');
    expect(await attempt('operator', (channel) => channel.get(queue))).toBe(403);
    expect(await attempt('operator', (channel) => channel.purgeQueue(queue))).toBe(403);
    expect(await attempt('operator', (channel) => channel.bindQueue(queue, EXCHANGE, '#'))).toBe(403);
    expect(await attempt('operator', (channel) => channel.bindQueue(queue, DEAD_EXCHANGE, queue))).toBe(403);
  }
  expect(await attempt('operator', declareActionsQueue)).toBe('done');
  expect(await attempt('operator', (channel) => channel.get(ACTIONS_QUEUE))).toBe('done');
  expect(await attempt('operator', publish(EXCHANGE, 'PaymentCreated'))).toBe(403);
});

test('none of them is an administrator', async () => {
  const users = (await broker.manage('GET', '/api/users')) as { name: string; tags: string[] | string }[];
  for (const { name, tags } of users.filter((user) => brokerUsers.includes(user.name as BrokerUser)))
    expect([name, String(tags)]).toEqual([name, '']);
});
