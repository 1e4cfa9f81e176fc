import type { Channel, GetMessage } from 'amqplib';
import { pause } from '@quittance/runtime/concurrency/backoff.ts';
import type { Broker } from '../broker/broker.ts';
import { closeChannel } from '../broker/channel.ts';
import {
  MAX_ACTIONS,
  type DeadLetterAction,
  type DeadLetterAuthor,
  type DeadLetterFilter,
  declareActionsQueue,
  isSelected,
  toAction,
} from './actions.ts';
import { type DeadLetter, readDeadLetter, toRedriven } from './message.ts';
import { headersOf } from '../broker/amqp-message.ts';
import { SIGNATURE_HEADER } from '../broker/signature.ts';
import { ACTIONS_QUEUE, bindings, deadQueueOf } from '../broker/topology.ts';

/** An operator waits at a terminal and must learn soon that the broker is away. */
const CONNECT_LIMIT_MS = 10_000;
/** The most messages read from a queue in one command; no other client can get them until it ends. */
const SCAN_LIMIT = 10_000;
/** Another consumer may have taken some in the meantime, so the count may never be reached. */
const RETURN_LIMIT_MS = 2_000;

/**
 * @param only all queues when absent.
 * @returns each with the number of its dead letters, and of the processes that consume it: without one its messages wait.
 */
export async function readQueues(
  broker: Broker,
  only?: string,
): Promise<{ queue: string; dead: number; consumers: number }[]> {
  return await withSession(broker, async ({ channel }) => {
    const states = [];
    for (const queue of queuesOf(only)) {
      const { messageCount: dead } = await channel.checkQueue(deadQueueOf(queue));
      states.push({ queue, dead, consumers: (await channel.checkQueue(queue)).consumerCount });
    }
    return states;
  });
}

/** @returns how many dead letters of each queue have no signature; queues without any are left out. Looks at the first 10 000 of a queue. */
export async function countUnsignedDeadLetters(broker: Broker): Promise<{ queue: string; dead: number }[]> {
  return await withSession(broker, async (session) => {
    const counts = [];
    for (const { queue } of bindings) {
      let dead = 0;
      for await (const message of getMessages(session, deadQueueOf(queue), SCAN_LIMIT))
        if (headersOf(message)[SIGNATURE_HEADER] === undefined) dead += 1;
      if (dead > 0) counts.push({ queue, dead });
    }
    return counts;
  });
}

/**
 * Reads dead letters and leaves them in their queues. Reads the first 10 000 of a queue.
 * @param options.queue the queue they come from; all when absent.
 * @param options.limit most letters returned (default 100).
 * @returns the letters queue by queue, the oldest of each first.
 * @throws Error when the queue is not in the topology, or RabbitMQ is not reached within 10 s.
 */
export async function listDeadLetters(
  broker: Broker,
  { queue, limit = 100, ...filter }: DeadLetterFilter & { queue?: string | undefined; limit?: number } = {},
): Promise<DeadLetter[]> {
  return await withSession(broker, async (session) => {
    const letters: DeadLetter[] = [];
    for (const source of queuesOf(queue)) {
      if (letters.length >= limit) break;
      const selected = await selectLetters(session, source, filter);
      letters.push(...selected.slice(0, limit - letters.length).map(({ letter }) => letter));
    }
    return letters;
  });
}

const queuesOf = (only: string | undefined): string[] =>
  only === undefined ? bindings.map(({ queue }) => queue) : [knownQueue(only)];

type Command = DeadLetterFilter & {
  queue: string;
  /**
   * The most letters it applies to, the oldest first (default 1000). One that becomes a dead letter again during the command is not
   * selected twice.
   */
  limit?: number;
  author: DeadLetterAuthor;
};

/**
 * Sends dead letters back to the queue they come from, and to no other receiver of the message; their attempts start again. A letter leaves
 * the dead queue only once RabbitMQ has confirmed the copy and the audit record. A crash in between leaves both, and the inbox ignores the
 * second.
 * @returns how many were sent.
 * @throws Error when RabbitMQ does not confirm a copy; those before it are sent.
 */
export const redriveDeadLetters = (broker: Broker, command: Command): Promise<number> =>
  execute(broker, 'redrive', command);

/**
 * Removes dead letters permanently. Their effect never happens; the audit record keeps their bodies for 90 days.
 * @returns how many were discarded.
 * @throws Error when RabbitMQ does not confirm a record; those before it are discarded.
 */
export const discardDeadLetters = (broker: Broker, command: Command): Promise<number> =>
  execute(broker, 'discard', command);

async function execute(
  broker: Broker,
  action: DeadLetterAction['action'],
  { queue, limit = 1_000, author, ...filter }: Command,
): Promise<number> {
  const deadQueue = deadQueueOf(knownQueue(queue));
  return await withSession(broker, async (session) => {
    await declareActionsQueue(session.channel);
    const letters = (await selectLetters(session, queue, filter)).slice(0, limit);
    for (const [done, { message, letter }] of letters.entries()) {
      const record = toAction(letter, action, author);
      const outcomes = await broker.publish(action === 'redrive' ? [record, toRedriven(message, queue)] : [record]);
      if (outcomes.some((outcome) => outcome !== 'confirmed'))
        throw new Error(`RabbitMQ did not confirm ${letter.message_id}; ${done} letters were done before it`);
      session.channel.ack(message);
      session.counts.set(deadQueue, (session.counts.get(deadQueue) ?? 0) - 1);
    }
    return letters.length;
  });
}

/**
 * What operators did to dead letters, newest first.
 * @param options.limit most entries returned (default 100); all that are kept are read.
 */
export async function listDeadLetterActions(
  broker: Broker,
  { queue, limit = 100 }: { queue?: string | undefined; limit?: number } = {},
): Promise<DeadLetterAction[]> {
  return await withSession(broker, async (session) => {
    await declareActionsQueue(session.channel);
    const entries: DeadLetterAction[] = [];
    for await (const message of getMessages(session, ACTIONS_QUEUE, MAX_ACTIONS)) {
      const entry = JSON.parse(message.content.toString('utf8')) as DeadLetterAction;
      if (queue === undefined || entry.letter.queue === queue) entries.push(entry);
    }
    return entries.reverse().slice(0, limit);
  });
}

/** One operator command, on its own channel. */
type Session = {
  channel: Channel;
  /** How many messages each queue that was read must have in the end. */
  counts: Map<string, number>;
};

/** Sorts here, because the queue itself loses its order: messages that were only read return behind the others. */
async function selectLetters(session: Session, queue: string, filter: DeadLetterFilter) {
  const selected: { message: GetMessage; letter: DeadLetter }[] = [];
  for await (const message of getMessages(session, deadQueueOf(queue), SCAN_LIMIT)) {
    const letter = readDeadLetter(message, queue);
    if (isSelected(letter, filter)) selected.push({ message, letter });
    if (filter.messageId !== undefined && selected.length > 0) break;
  }
  return selected.sort((a, b) => (a.letter.first_seen ?? '').localeCompare(b.letter.first_seen ?? ''));
}

/** Gets messages without acknowledging them; they return to the queue. */
async function* getMessages({ channel, counts }: Session, queue: string, limit: number): AsyncGenerator<GetMessage> {
  if (!counts.has(queue)) counts.set(queue, (await channel.checkQueue(queue)).messageCount);
  for (let count = 0; count < limit; count += 1) {
    const message = await channel.get(queue, { noAck: false });
    if (message === false) return;
    yield message;
  }
}

async function withSession<T>(broker: Broker, run: (session: Session) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(CONNECT_LIMIT_MS);
  while (!broker.ready() && !deadline.aborted) await pause(20, deadline);
  if (!broker.ready()) throw new Error(`RabbitMQ was not reached within ${CONNECT_LIMIT_MS} ms`);
  const connection = await broker.consuming.connected(deadline);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const session: Session = { channel, counts: new Map() };
  try {
    const result = await run(session);
    channel.nackAll(true);
    await waitUntilReturned(session);
    return result;
  } finally {
    await closeChannel(channel);
  }
}

/** RabbitMQ does not answer a nack, and the next command would otherwise find too few letters. */
async function waitUntilReturned({ channel, counts }: Session): Promise<void> {
  const deadline = AbortSignal.timeout(RETURN_LIMIT_MS);
  for (const [queue, count] of counts) {
    while (!deadline.aborted && (await channel.checkQueue(queue)).messageCount < count) await pause(20, deadline);
  }
}

function knownQueue(queue: string): string {
  if (bindings.some((row) => row.queue === queue)) return queue;
  throw new Error(`There is no queue ${queue}; there are ${bindings.map((row) => row.queue).join(', ')}`);
}
