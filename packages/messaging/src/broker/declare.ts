import type { Channel, ChannelModel } from 'amqplib';
import type { Logger } from '@quittance/runtime/logger.ts';
import { closeChannel } from './channel.ts';
import {
  DEAD_EXCHANGE,
  EXCHANGE,
  bindings,
  deadQueueArguments,
  deadQueueOf,
  queueArguments,
  type Binding,
} from './topology.ts';

/** A part of the topology: how to check that it exists, and how to declare it. */
type Part = {
  name: string;
  check(channel: Channel): Promise<unknown>;
  declare(channel: Channel): Promise<unknown>;
  /** Whether it is useless if it was declared differently: an exchange of another type brings messages to the wrong queues, or to none. */
  mustBeAsDeclared?: boolean;
};

const parts: readonly Part[] = [
  exchangePart(EXCHANGE, 'topic'),
  exchangePart(DEAD_EXCHANGE, 'direct'),
  // The dead queues come first, so that every queue has a place for its dead letters.
  ...bindings.map(({ queue }): Part => ({
    name: deadQueueOf(queue),
    check: (channel) => channel.checkQueue(deadQueueOf(queue)),
    declare: (channel) => declareDeadQueue(channel, queue),
  })),
  ...bindings.map((binding): Part => ({
    name: binding.queue,
    check: (channel) => channel.checkQueue(binding.queue),
    declare: (channel) => declareQueue(channel, binding),
  })),
];

function exchangePart(name: string, type: string): Part {
  return {
    name,
    check: (channel) => channel.checkExchange(name),
    declare: (channel) => channel.assertExchange(name, type, { durable: true }),
    mustBeAsDeclared: true,
  };
}

/**
 * Declares exchanges, queues and their bindings if an exchange or a queue is missing. Existing queues are not changed.
 * @returns the names of what is still missing.
 */
export async function ensureTopology(connection: ChannelModel, logger: Logger): Promise<string[]> {
  const error = await failureOf(areThere(connection, parts));
  // Set-up made this user, and everything else before it. Since 4.2.6 RabbitMQ does not even show a queue to a user without any permission
  // for it.
  if (error === null || codeOf(error) === ACCESS_REFUSED) return [];
  return declareTopology(connection, logger);
}

/**
 * Declares all of it. A part that does not exist and cannot be declared is logged as an error, and the others are still declared.
 * @returns the names of what is still missing.
 */
export async function declareTopology(connection: ChannelModel, logger: Logger): Promise<string[]> {
  const missing: string[] = [];
  for (const part of parts) {
    const error = await failureOf(onChannel(connection, (channel) => part.declare(channel)));
    if (error === null) continue;
    // It may exist with other arguments, or this user may not be allowed to declare it.
    const isUseless = part.mustBeAsDeclared === true && codeOf(error) === PRECONDITION_FAILED;
    if (!isUseless && (await failureOf(areThere(connection, [part]))) === null) continue;
    missing.push(part.name);
    logger.error(
      { error, missing: part.name },
      'A queue or an exchange is missing in RabbitMQ, or an exchange has another type, and it could not be declared',
    );
  }
  return missing;
}

/** A missing one closes the channel. */
const areThere = (connection: ChannelModel, checked: readonly Part[]): Promise<void> =>
  onChannel(connection, async (channel) => {
    for (const part of checked) await part.check(channel);
  });

/** A queue that was declared differently and could lose messages. It is not consumed until it is fixed. */
export class UnsafeQueue extends Error {
  override readonly name = 'UnsafeQueue';
}

/**
 * Makes sure that a service's own queue can be consumed: declares it, or accepts it as it is.
 * @throws UnsafeQueue for one that drops messages, or has no place for dead letters. RabbitMQ's error for one that does not exist and
 *   cannot be declared.
 */
export async function prepareQueue(connection: ChannelModel, binding: Binding): Promise<void> {
  const error = await failureOf(onChannel(connection, (channel) => declareQueue(channel, binding)));
  if (error === null) return;
  const { queue } = binding;
  const code = codeOf(error);
  if (code === PRECONDITION_FAILED) {
    const problem = await problemWith(connection, queue);
    if (problem !== null) throw new UnsafeQueue(`${queue} ${problem}`, { cause: error });
    await onChannel(connection, (channel) => channel.bindQueue(queue, EXCHANGE, binding.message.name));
  } else if (code === ACCESS_REFUSED) await onChannel(connection, (channel) => channel.checkQueue(queue));
  else throw error;
}

/** A service's own user may not declare one: with the permission to bind a queue to this exchange it could read all dead letters. */
async function declareDeadQueue(channel: Channel, queue: string): Promise<void> {
  const deadQueue = deadQueueOf(queue);
  await channel.assertQueue(deadQueue, { durable: true, arguments: deadQueueArguments });
  await channel.bindQueue(deadQueue, DEAD_EXCHANGE, queue);
}

async function declareQueue(channel: Channel, { queue, message }: Binding): Promise<void> {
  await channel.assertQueue(queue, { durable: true, arguments: queueArguments(queue) });
  await channel.bindQueue(queue, EXCHANGE, message.name);
}

const ACCESS_REFUSED = 403;
const NOT_FOUND = 404;
const PRECONDITION_FAILED = 406;

/** More arguments than a queue can have. */
const MAX_DIFFERENCES = 30;

type QueueArguments = ReadonlyMap<string, unknown>;

/**
 * Each time RabbitMQ refuses a declaration, it names one argument that differs, with its value. This never declares a queue with arguments
 * that could lose messages: the queue may have been deleted in the meantime, and would be created with them.
 * @returns why an existing queue could lose messages, or null.
 * @throws the error of RabbitMQ when it names no argument.
 */
async function problemWith(connection: ChannelModel, queue: string): Promise<string | null> {
  const known = new Map<string, unknown>(Object.entries(queueArguments(queue)));
  for (let round = 0; round < MAX_DIFFERENCES; round += 1) {
    const options = { durable: true, arguments: Object.fromEntries(known) };
    const error = await failureOf(onChannel(connection, (channel) => channel.assertQueue(queue, options)));
    if (error === null) return null;
    const difference = differenceIn(error);
    if (difference.value === undefined) known.delete(difference.name);
    else known.set(difference.name, difference.value);
    const problem = problemOf(known);
    if (problem !== null) return problem;
  }
  throw new Error(`the arguments of ${queue} cannot be determined`);
}

/** `inequivalent arg 'x-max-length' for queue …: received none but current is the value '10' of type 'signedint'`, or `invalid arg 'x-…'`. */
function differenceIn(error: Error): { name: string; value: unknown } {
  const inequivalent =
    /inequivalent arg '([^']+)'.* but current is (?:none|(?:the value )?'([^']*)'(?: of type '(\w+)')?)/s;
  const [, name, value, type] = inequivalent.exec(error.message) ?? [];
  // An argument that a classic queue cannot have.
  const [, unsupported] = /invalid arg '([^']+)'/.exec(error.message) ?? [];
  if (name === undefined && unsupported !== undefined) return { name: unsupported, value: undefined };
  if (name === undefined) throw error;
  if (value === 'true' || value === 'false') return { name, value: value === 'true' };
  // 3.10 does not name the type.
  const isNumber = type === undefined ? /^\d+$/.test(value ?? '') : type !== 'longstr';
  return { name, value: isNumber ? Number(value) : value };
}

/** @returns why a queue with these arguments could lose messages, or null. */
function problemOf(given: QueueArguments): string | null {
  if (given.get('durable') === false) return 'does not outlive a restart of RabbitMQ';
  if (!given.has('x-dead-letter-exchange')) return 'has no dead-letter exchange';
  const dropping = ['x-message-ttl', 'x-expires'].filter((name) => given.has(name));
  const isRefusing = String(given.get('x-overflow')).startsWith('reject-publish');
  const limits = ['x-max-length', 'x-max-length-bytes'].filter((name) => given.has(name) && !isRefusing);
  const [problem] = [...dropping, ...limits];
  return problem === undefined ? null : `drops messages: it has ${problem}`;
}

async function onChannel<T>(connection: ChannelModel, run: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await connection.createChannel();
  // Without a listener a refused declaration would end the process; the call itself fails with the reason.
  channel.on('error', () => undefined);
  try {
    return await run(channel);
  } finally {
    await closeChannel(channel);
  }
}

const failureOf = (work: Promise<unknown>): Promise<Error | null> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Whether RabbitMQ answered that it does not have it, or that this user has no permission. */
export const isRefusal = (error: unknown): boolean =>
  [ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED].includes(Number(codeOf(error)));
