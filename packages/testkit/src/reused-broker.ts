import { connect } from 'amqplib';
import { bindings, deadQueueOf } from '@quittance/messaging/broker/topology.ts';
import { eventually } from './eventually.ts';
import { testBroker, type TestBroker } from './broker.ts';

/** Virtual hosts with the topology, reused by tests that run one after the other. */
export type ReusedBrokers = { open(): Promise<TestBroker>; close(): Promise<void> };

/**
 * A virtual host takes as much time as everything else that a test sets up, because the topology has 22 quorum queues.
 * So the tests of a file share one: closing it empties its queues for the next test. One that can't be emptied is
 * deleted.
 */
export function reusedBrokers(): ReusedBrokers {
  const spare: TestBroker[] = [];
  return {
    async open() {
      const broker = spare.pop() ?? (await testBroker());
      const handOn = async (): Promise<void> => {
        const isEmpty = await emptyQueues(broker.url).then(
          () => true,
          () => false,
        );
        if (isEmpty) spare.push(broker);
        else await broker.close();
      };
      return { ...broker, close: handOn };
    },
    close: async () => {
      await Promise.all(spare.splice(0).map((broker) => broker.close()));
    },
  };
}

/** Unacknowledged messages return to a queue when its consumers are gone; the queue processes both together. */
async function emptyQueues(url: string): Promise<void> {
  const connection = await connect(url);
  try {
    const channel = await connection.createChannel();
    // Without a listener, a queue that was never declared would end the process. The call fails with the reason.
    channel.on('error', () => undefined);
    for (const { queue } of bindings) {
      await eventually(async () => {
        const { consumerCount } = await channel.checkQueue(queue);
        if (consumerCount > 0) throw new Error(`${queue} still has ${consumerCount} consumers`);
      });
      await channel.purgeQueue(queue);
      await channel.purgeQueue(deadQueueOf(queue));
    }
  } finally {
    await connection.close();
  }
}
