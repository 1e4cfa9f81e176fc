import { connect } from 'amqplib';
import { bindings, deadQueueOf } from '@quittance/messaging/broker/topology.ts';
import { eventually } from './eventually.ts';
import { testBroker, type TestBroker } from './broker.ts';

/** Virtual hosts with the topology, which worlds that are opened one after the other hand on. */
export type ReusedBrokers = { open(): Promise<TestBroker>; close(): Promise<void> };

/**
 * A virtual host costs as much as a whole world beside it, because the topology is 22 quorum queues. So the tests of a file share
 * one: closing it empties its queues for the next. One that cannot be emptied is deleted.
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

/** What was not acknowledged is back in a queue once its consumers are gone: the queue learns of both at once. */
async function emptyQueues(url: string): Promise<void> {
  const connection = await connect(url);
  try {
    const channel = await connection.createChannel();
    // Without a listener a queue that was never declared would end the process; the call fails with the reason.
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
