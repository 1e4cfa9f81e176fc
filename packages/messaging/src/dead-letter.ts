import type { Channel, GetMessage } from 'amqplib';
import { propertiesOf } from './amqp-message.ts';
import { pause } from './backoff.ts';
import type { Broker } from './broker.ts';
import { closeChannel } from './channel.ts';
import { type DeadLetter, readDeadLetter, toRedriven } from './dead-letter-message.ts';
import { bindings, deadQueueOf } from './topology.ts';

/** An operator waits at a terminal; a broker that is not there must be said to be not there. */
const CONNECT_LIMIT_MS = 10_000;
/** The most that is looked through at once; messages that are looked at are kept from everybody else meanwhile. */
const SCAN_LIMIT = 10_000;

/** @returns every queue with the number of its dead letters. */
export async function countDeadLetters(broker: Broker): Promise<{ queue: string; dead: number }[]> {
  return await withChannel(broker, async (channel) => {
    const counts = [];
    for (const { queue } of bindings) {
      counts.push({ queue, dead: (await channel.checkQueue(deadQueueOf(queue))).messageCount });
    }
    return counts;
  });
}

/**
 * Looks at dead letters, oldest first, and leaves them where they are.
 * @param options.queue the queue they come from; all when absent.
 * @param options.limit most letters returned (default 100).
 * @throws Error when the queue is not in the topology, or RabbitMQ can't be reached within 10 s.
 */
export async function listDeadLetters(
  broker: Broker,
  { queue, limit = 100 }: { queue?: string; limit?: number } = {},
): Promise<DeadLetter[]> {
  return await withChannel(broker, async (channel) => {
    const letters: DeadLetter[] = [];
    for (const source of queue === undefined ? bindings.map((row) => row.queue) : [known(queue)]) {
      for await (const letter of taken(channel, source, limit - letters.length))
        letters.push(readDeadLetter(letter, source));
    }
    return letters;
  });
}

/** @returns the dead letter with this message id, or null; looks through the first 10 000. */
export async function findDeadLetter(
  broker: Broker,
  { queue, messageId }: { queue: string; messageId: string },
): Promise<DeadLetter | null> {
  return await withChannel(broker, async (channel) => {
    for await (const letter of taken(channel, known(queue), SCAN_LIMIT)) {
      if (propertiesOf(letter).messageId === messageId) return readDeadLetter(letter, queue);
    }
    return null;
  });
}

/**
 * Sends dead letters back to the queue they come from, with all their tries before them, and to no other hearer of the
 * message. A letter leaves the dead queue only once RabbitMQ has confirmed the copy; a crash in between leaves both, and
 * the inbox absorbs the second.
 * @param options.messageId only this one.
 * @param options.limit most letters sent (default 1000). A letter that dies again meanwhile is not sent twice.
 * @returns how many were sent.
 * @throws Error when RabbitMQ does not take a copy; those before it are sent.
 */
export async function redriveDeadLetters(
  broker: Broker,
  { queue, messageId, limit = 1_000 }: { queue: string; messageId?: string; limit?: number },
): Promise<{ redriven: number }> {
  return await withChannel(broker, async (channel) => {
    const redriven = new Set<string>();
    for await (const letter of taken(channel, known(queue), SCAN_LIMIT)) {
      const id = String(propertiesOf(letter).messageId);
      if (redriven.has(id) || (messageId !== undefined && id !== messageId)) continue;
      const [outcome] = await broker.publish([toRedriven(letter, queue)]);
      if (outcome !== 'confirmed')
        throw new Error(`RabbitMQ did not take ${id}; ${redriven.size} were redriven before it`);
      channel.ack(letter);
      redriven.add(id);
      if (redriven.size === limit || messageId !== undefined) break;
    }
    return { redriven: redriven.size };
  });
}

/** Hands out dead letters without settling them; what is not acknowledged in the end goes back to its place. */
async function* taken(channel: Channel, queue: string, limit: number): AsyncGenerator<GetMessage> {
  for (let count = 0; count < limit; count += 1) {
    const letter = await channel.get(deadQueueOf(queue), { noAck: false });
    if (letter === false) return;
    yield letter;
  }
}

async function withChannel<T>(broker: Broker, use: (channel: Channel) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(CONNECT_LIMIT_MS);
  while (!broker.ready() && !deadline.aborted) await pause(20, deadline);
  if (!broker.ready()) throw new Error(`RabbitMQ was not reached within ${CONNECT_LIMIT_MS} ms`);
  const connection = await broker.consuming.connected(deadline);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  try {
    const result = await use(channel);
    // Closing the channel would put them back too, but some time later: the next look would find fewer letters.
    channel.nackAll(true);
    return result;
  } finally {
    await closeChannel(channel);
  }
}

function known(queue: string): string {
  if (bindings.some((row) => row.queue === queue)) return queue;
  throw new Error(`There is no queue ${queue}; there are ${bindings.map((row) => row.queue).join(', ')}`);
}
