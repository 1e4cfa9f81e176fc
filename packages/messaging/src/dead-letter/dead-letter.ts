import type { Channel, GetMessage } from 'amqplib';
import { pause } from '@quittance/runtime/concurrency/backoff.ts';
import type { Broker } from '../broker/broker.ts';
import { closeChannel } from '../broker/channel.ts';
import {
  ACTIONS_QUEUE,
  MOST_ACTIONS,
  type DeadLetterAction,
  type DeadLetterAuthor,
  type DeadLetterChoice,
  declareActionsQueue,
  isChosen,
  toAction,
} from './actions.ts';
import { type DeadLetter, readDeadLetter, toRedriven } from './message.ts';
import { bindings, deadQueueOf } from '../broker/topology.ts';

/** An operator waits at a terminal; a broker that is not there must be said to be not there. */
const CONNECT_LIMIT_MS = 10_000;
/** The most that is looked through at once; messages that are looked at are kept from everybody else meanwhile. */
const SCAN_LIMIT = 10_000;

/** Somebody else may have taken some meanwhile. */
const BACK_LIMIT_MS = 2_000;

/** @returns every queue with the number of its dead letters. */
export async function countDeadLetters(broker: Broker): Promise<{ queue: string; dead: number }[]> {
  return await withChannel(broker, async ({ channel }) => {
    const counts = [];
    for (const { queue } of bindings) {
      counts.push({ queue, dead: (await channel.checkQueue(deadQueueOf(queue))).messageCount });
    }
    return counts;
  });
}

/**
 * Looks at dead letters and leaves them where they are. Looks through the first 10 000 of a queue.
 * @param options.queue the queue they come from; all when absent.
 * @param options.limit most letters returned (default 100).
 * @returns those of one queue after the other, each queue's oldest first.
 * @throws Error when the queue is not in the topology, or RabbitMQ can't be reached within 10 s.
 */
export async function listDeadLetters(
  broker: Broker,
  { queue, limit = 100, ...choice }: DeadLetterChoice & { queue?: string; limit?: number } = {},
): Promise<DeadLetter[]> {
  return await withChannel(broker, async (look) => {
    const letters: DeadLetter[] = [];
    for (const source of queue === undefined ? bindings.map((row) => row.queue) : [known(queue)]) {
      if (letters.length >= limit) break;
      const found = await chosenOf(look, source, choice);
      letters.push(...found.slice(0, limit - letters.length).map(({ letter }) => letter));
    }
    return letters;
  });
}

/** @returns the dead letter with this message id, or null; looks through the first 10 000. */
export async function findDeadLetter(
  broker: Broker,
  { queue, messageId }: { queue: string; messageId: string },
): Promise<DeadLetter | null> {
  const [letter] = await listDeadLetters(broker, { queue, messageId, limit: 1 });
  return letter ?? null;
}

/** What is done, to which, by whom. */
type Deed = DeadLetterChoice & {
  queue: string;
  /** Most letters it is done to, the oldest first (default 1000). A letter that dies again meanwhile is not taken twice. */
  limit?: number;
  author: DeadLetterAuthor;
};

/**
 * Sends dead letters back to the queue they come from, with all their tries before them, and to no other hearer of the
 * message. A letter leaves the dead queue only once RabbitMQ has confirmed the copy and the record of it; a crash in between leaves
 * both, and the inbox absorbs the second.
 * @returns how many were sent.
 * @throws Error when RabbitMQ does not take a copy; those before it are sent.
 */
export async function redriveDeadLetters(broker: Broker, deed: Deed): Promise<{ redriven: number }> {
  return { redriven: await act(broker, 'redrive', deed) };
}

/**
 * Takes dead letters out of their queue for good. Their effect never happens; the record of it keeps their bodies for 90 days.
 * @returns how many were discarded.
 * @throws Error when RabbitMQ does not take a record; those before it are discarded.
 */
export async function discardDeadLetters(broker: Broker, deed: Deed): Promise<{ discarded: number }> {
  return { discarded: await act(broker, 'discard', deed) };
}

async function act(broker: Broker, action: DeadLetterAction['action'], deed: Deed): Promise<number> {
  const { queue, limit = 1_000, author, ...choice } = deed;
  const deadQueue = deadQueueOf(known(queue));
  return await withChannel(broker, async (look) => {
    await declareActionsQueue(look.channel);
    const letters = (await chosenOf(look, queue, choice)).slice(0, limit);
    for (const [before, { message, letter }] of letters.entries()) {
      const record = toAction(letter, action, author);
      const outcomes = await broker.publish(action === 'redrive' ? [record, toRedriven(message, queue)] : [record]);
      if (outcomes.some((outcome) => outcome !== 'confirmed'))
        throw new Error(`RabbitMQ did not take ${letter.message_id}; ${before} were done before it`);
      look.channel.ack(message);
      look.ready.set(deadQueue, (look.ready.get(deadQueue) ?? 0) - 1);
    }
    return letters.length;
  });
}

/**
 * What was done to dead letters, newest first.
 * @param options.limit most entries returned (default 100); all that are kept are looked through.
 */
export async function listDeadLetterActions(
  broker: Broker,
  { queue, limit = 100 }: { queue?: string; limit?: number } = {},
): Promise<DeadLetterAction[]> {
  return await withChannel(broker, async (look) => {
    await declareActionsQueue(look.channel);
    const entries: DeadLetterAction[] = [];
    for await (const message of taken(look, ACTIONS_QUEUE, MOST_ACTIONS)) {
      const entry = JSON.parse(message.content.toString('utf8')) as DeadLetterAction;
      if (queue === undefined || entry.letter.queue === queue) entries.push(entry);
    }
    return entries.reverse().slice(0, limit);
  });
}

/** One command at the broker. */
type Look = {
  channel: Channel;
  /** How many messages each queue that was looked at has to have in the end. */
  ready: Map<string, number>;
};

/**
 * The chosen ones among the first 10 000, oldest first: the queue itself loses its order, because what only was looked at comes back
 * behind the others.
 */
async function chosenOf(look: Look, queue: string, choice: DeadLetterChoice) {
  const found: { message: GetMessage; letter: DeadLetter }[] = [];
  for await (const message of taken(look, deadQueueOf(queue), SCAN_LIMIT)) {
    const letter = readDeadLetter(message, queue);
    if (isChosen(letter, choice)) found.push({ message, letter });
    if (choice.messageId !== undefined && found.length > 0) break;
  }
  return found.sort((a, b) => (a.letter.first_seen ?? '').localeCompare(b.letter.first_seen ?? ''));
}

/** Hands out messages of a queue without settling them; what is not acknowledged in the end goes back to its place. */
async function* taken({ channel, ready }: Look, queue: string, limit: number): AsyncGenerator<GetMessage> {
  if (!ready.has(queue)) ready.set(queue, (await channel.checkQueue(queue)).messageCount);
  for (let count = 0; count < limit; count += 1) {
    const message = await channel.get(queue, { noAck: false });
    if (message === false) return;
    yield message;
  }
}

async function withChannel<T>(broker: Broker, use: (look: Look) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(CONNECT_LIMIT_MS);
  while (!broker.ready() && !deadline.aborted) await pause(20, deadline);
  if (!broker.ready()) throw new Error(`RabbitMQ was not reached within ${CONNECT_LIMIT_MS} ms`);
  const connection = await broker.consuming.connected(deadline);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const look: Look = { channel, ready: new Map() };
  try {
    const result = await use(look);
    channel.nackAll(true);
    await untilBack(look);
    return result;
  } finally {
    await closeChannel(channel);
  }
}

/** RabbitMQ does not answer a nack. The next look, which may be the next command, would find fewer letters than there are. */
async function untilBack({ channel, ready }: Look): Promise<void> {
  const giveUp = AbortSignal.timeout(BACK_LIMIT_MS);
  for (const [queue, count] of ready) {
    while (!giveUp.aborted && (await channel.checkQueue(queue)).messageCount < count) await pause(20, giveUp);
  }
}

function known(queue: string): string {
  if (bindings.some((row) => row.queue === queue)) return queue;
  throw new Error(`There is no queue ${queue}; there are ${bindings.map((row) => row.queue).join(', ')}`);
}
