import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { testLogger } from '@quittance/testkit/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type FaultProxy, faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { prepareBroker } from '../src/broker/set-up.ts';
import { connected, effects, recording, sendMessage, startWorld, type World } from './world.ts';

// Several hosts of one RabbitMQ, as a cluster has them: each is a proxy that can be cut. Connections begin with the first.

let world: World;
let first: FaultProxy;
let second: FaultProxy;
const dead = '127.0.0.1:1';
beforeEach(async () => {
  world = await startWorld();
  [first, second] = await Promise.all([
    faultProxy({ target: world.brokerUrl }),
    faultProxy({ target: world.brokerUrl }),
  ]);
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await world.close();
  await Promise.all([first.close(), second.close()]);
});

/** The URL of the test's virtual host at these hosts. */
const at = (...hosts: string[]): string => world.brokerUrl.replace(/@[^/]+/, `@${hosts.join(',')}`);
const hostOf = ({ port }: FaultProxy): string => `127.0.0.1:${port}`;

test('a process starts although the first hosts are dead', async () => {
  first.cut();
  await connected(world.connect(at(hostOf(first), dead, hostOf(second))));
  expect(first.refused()).toBeGreaterThan(0);
});

test('when the host in use is lost, publishing and consuming go on at another one, and nothing is lost', async () => {
  const broker = world.connect(at(hostOf(first), hostOf(second)));
  await connected(broker);
  const outbox = world.outbox({ broker });
  world.consume([recording()], { broker });
  const sent = [await sendMessage(world, outbox)];
  const allHandled = () => eventually(async () => expect((await effects(world)).sort()).toEqual([...sent].sort()));
  await allHandled();
  for (const [lost, left] of [
    [first, second],
    [second, first],
  ] as const) {
    left.restore();
    lost.cut();
    sent.push(await sendMessage(world, outbox), await sendMessage(world, outbox));
    await allHandled();
    await connected(broker);
  }
});

test('a refused login is reported although the first host is dead', async () => {
  const url = at(dead, hostOf(second)).replace(/:[^:@]+@/, ':wrong@');
  expect(await world.connect(url).loginRefusal()).toMatch(/403 \(ACCESS.REFUSED\)/);
  expect(await world.connect(at(dead, dead)).loginRefusal()).toBe(null);
});

test('RabbitMQ is prepared at the first host that can be reached', async () => {
  await prepareBroker(at(dead, hostOf(second)), null, testLogger);
  await expect(prepareBroker(at(dead, dead), null, testLogger)).rejects.toThrow('ECONNREFUSED');
});
