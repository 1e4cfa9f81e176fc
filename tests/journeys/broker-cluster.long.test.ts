import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { prepareBroker } from '@quittance/messaging/broker/set-up.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { startRabbitmqCluster } from '../faults/servers/rabbitmq-cluster.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  jest.restoreAllMocks();
  for (const close of closing.reverse()) await close();
});
const onEnd = (close: () => Promise<unknown>): void => void closing.push(close);

const QUEUE = 'payments.webhook-configured';

test('with all nodes of a cluster in AMQP_URL, a process goes on when the node that it uses is killed, and loses nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-cluster-'));
  onEnd(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  const { nodes, untilWhole } = await startRabbitmqCluster(3, directory, onEnd);
  const url = nodes.map((node) => node.current().url).join(',');
  await prepareBroker(url, null, testLogger);
  await untilWhole(QUEUE);

  // Connections begin with the first node.
  jest.spyOn(Math, 'random').mockReturnValue(0);
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const broker = connectBroker({ url, name: 'test', logger: testLogger, metrics });
  onEnd(() => broker.close());
  const publishOne = () =>
    eventually(async () => {
      const properties = { messageId: crypto.randomUUID(), persistent: true, mandatory: true };
      const message = { exchange: EXCHANGE, routingKey: 'WebhookConfigured', body: Buffer.from('{}'), properties };
      expect(await broker.publish([message])).toEqual(['confirmed']);
    });
  await publishOne();
  await nodes[0]!.kill();
  await eventually(() => expect(broker.ready()).toBe(false));
  await publishOne();
  await eventually(() => expect(broker.ready()).toBe(true));
  // A publication that is not confirmed may have arrived, so there may be more.
  const connection = await broker.consuming.connected(AbortSignal.timeout(60_000));
  const channel = await connection.createChannel();
  await eventually(async () => expect((await channel.checkQueue(QUEUE)).messageCount).toBeGreaterThanOrEqual(2));
});
