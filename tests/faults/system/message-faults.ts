import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import type { Outgoing } from '@quittance/messaging/broker/publisher.ts';
import { createReconnectingChannel } from '@quittance/messaging/broker/channel.ts';
import { bindings, EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { toRequeued } from '@quittance/messaging/dead-letter/message.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import type { FaultKind, Scene } from './fault.ts';

/** Message ids of poison: those that may be among the dead letters, and those that must be, because RabbitMQ has confirmed them. */
export type Poison = { sent: Set<string>; confirmed: Set<string> };

const silent = createLogger({ service: 'tests', level: 'silent' });

/** The largest number of messages that are held back at once, and that are kept to be sent again later. */
const MOST_HELD = 30;
const MOST_KEPT = 300;
/** A request to a dying broker may never be answered. Held messages then return when the connection ends. */
const MOST_HELD_MS = 60_000;

/** What a broker is allowed to do to messages, and messages that should never have been sent. */
export function createMessageFaults({ world, until }: Scene, poison: Poison): FaultKind & { close(): Promise<void> } {
  const broker = connectBroker({
    ...{ url: world.rabbitmq.url, name: 'tests' },
    logger: silent,
    metrics: createMetrics({ service: 'tests', processMetrics: false }),
  });
  /** Messages seen, newest last. Any of them may be sent again. */
  const kept: Outgoing[] = [];
  const keep = (messages: readonly Outgoing[]): void => {
    kept.push(...messages);
    kept.splice(0, kept.length - MOST_KEPT);
  };
  const counts = { held: 0, repeated: 0 };
  const tap = openTap(broker, (message) => keep([message]));
  const queues = bindings.map(({ queue }) => queue);
  /** Chooses queues with a message for every payment more often than those of settings, which have few messages. */
  const queueOf = (chance: Chance): string =>
    chance.happens(0.7)
      ? chance.pick(queues.filter((name) => /payment|transfer/.test(name.split('.')[1]!)))
      : chance.pick(queues);

  return {
    names: ['messages held back and reordered', 'messages repeated', 'poison'],
    next(chance) {
      const queue = queueOf(chance);
      const forMs = chance.between(500, 6_000);
      return chance.weighted([
        [
          4,
          {
            name: 'messages held back and reordered',
            // A broker that dies meanwhile returns them by itself.
            run: () =>
              withTimeout(
                MOST_HELD_MS,
                holdBack(broker, queue, chance, () => until(forMs)),
              ).then(
                (held) => void (counts.held += held),
                () => undefined,
              ),
          },
        ],
        [
          2,
          {
            name: 'messages repeated',
            run: async () => {
              const outcomes = await broker.publish(shuffled(kept, chance).slice(0, MOST_HELD));
              counts.repeated += outcomes.filter((outcome) => outcome === 'confirmed').length;
            },
          },
        ],
        [1, { name: 'poison', run: () => sendPoison(broker, queue, chance, poison) }],
      ]);
    },
    lines: async () => [
      `${counts.held} messages were held back and reordered, ${counts.repeated} were repeated later, ${poison.confirmed.size} were poison.`,
    ],
    async close() {
      await tap.close();
      await broker.close();
    },
  };
}

/** Receives every message, in addition to its consumers. It misses messages while it is not connected. */
function openTap(broker: Broker, onMessage: (copy: Outgoing) => void): { close(): Promise<void> } {
  return createReconnectingChannel({
    connection: broker.consuming,
    logger: silent,
    open: (connection) => connection.createChannel(),
    async setUp(channel) {
      const { queue } = await channel.assertQueue('', { exclusive: true });
      await channel.bindQueue(queue, EXCHANGE, '#');
      await channel.consume(
        queue,
        (message) => {
          if (message === null) return;
          const { exchange, routingKey } = message.fields;
          onMessage({ ...toRequeued(message, queue, {}), exchange, routingKey });
        },
        { noAck: true },
      );
    },
  });
}

/**
 * Takes messages of a queue away from its consumers for a while, and then puts them after those that arrived meanwhile, in another order
 * and some of them twice.
 * @returns how many.
 */
async function holdBack(
  broker: Broker,
  queue: string,
  chance: Chance,
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const channel = await (await broker.consuming.connected(AbortSignal.timeout(5_000))).createChannel();
  channel.on('error', () => undefined);
  try {
    await channel.prefetch(MOST_HELD);
    const held: Parameters<typeof toRequeued>[0][] = [];
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message !== null) held.push(message);
    });
    await meanwhile();
    // Otherwise it would get the copies.
    await channel.cancel(consumerTag);
    const copies = held.map((message) => toRequeued(message, queue, {}));
    const twice = copies.filter(() => chance.happens(0.3));
    const outcomes = await broker.publish(shuffled([...copies, ...twice], chance));
    // Otherwise they return to the queue, in addition to those copies that arrived.
    if (outcomes.every((outcome) => outcome === 'confirmed')) channel.ackAll();
    return copies.length;
  } finally {
    await channel.close().catch(() => undefined);
  }
}

/** A message with a name that the queue accepts, and an invalid body. */
async function sendPoison(broker: Broker, queue: string, chance: Chance, { sent, confirmed }: Poison): Promise<void> {
  const { message } = bindings.find((row) => row.queue === queue)!;
  const bodies = ['{', '[]', '{"merchant_id":"nobody"}', '\u0000', '{"__proto__":{"merchant_id":1}}'];
  const messageId = newMessageId();
  sent.add(messageId);
  const [outcome] = await broker.publish([
    {
      exchange: '',
      routingKey: queue,
      body: Buffer.from(chance.pick(bodies)),
      properties: {
        ...{ messageId, type: message.name, contentType: 'application/json', persistent: true, mandatory: true },
        headers: { version: chance.pick([1, 1, 99, 'one']), merchant_id: 'nobody' },
      },
    },
  ]);
  if (outcome === 'confirmed') confirmed.add(messageId);
}

function shuffled<T>(values: readonly T[], chance: Chance): T[] {
  return values
    .map((value) => [chance.below(2 ** 30), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}
