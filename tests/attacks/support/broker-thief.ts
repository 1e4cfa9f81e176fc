import { connect, type Channel, type ChannelModel, type ConfirmChannel } from 'amqplib';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { bindings, deadQueueOf } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Target, Trial } from '../attack.ts';
import type { Forged } from './invented.ts';

/** An attacker with one password of RabbitMQ. */
export type Thief = {
  /** The owner of the password: a service, or the administrator. */
  name: string;
  /** @returns `done`, or the code with which RabbitMQ refuses it. */
  attempt(run: (channel: ConfirmChannel) => Promise<unknown>): Promise<'done' | number>;
};

/** One for the administrator, and one for each service; null where services share a user. */
export type Thieves = { admin: Thief; ofServices: Thief[] | null };

export async function thievesOf({ stack, onEnd }: Target): Promise<Thieves> {
  const opened = async (name: string, url: string): Promise<Thief> => {
    const connection = await connect(url, { noDelay: true });
    connection.on('error', () => undefined);
    onEnd(() => connection.close().catch(() => undefined));
    return { name, attempt: (run) => attemptOn(connection, run) };
  };
  const admin = await opened('the administrator', stack.amqp_url);
  if (stack.management_url === null) return { admin, ofServices: null };
  const ofServices: Thief[] = [];
  for (const name of serviceNames) ofServices.push(await opened(name, stack.amqp_urls[name]));
  return { admin, ofServices };
}

/** A refusal closes the channel, so each attempt has its own. */
async function attemptOn(connection: ChannelModel, run: Parameters<Thief['attempt']>[0]): Promise<'done' | number> {
  const channel = await connection.createConfirmChannel();
  const refused = new Promise<number>((resolve) => channel.on('error', ({ code }: { code: number }) => resolve(code)));
  const done = run(channel).then(
    () => 'done' as const,
    (error: unknown) => {
      const { code } = error as { code?: unknown };
      return typeof code === 'number' ? code : refused;
    },
  );
  const outcome = await Promise.race([done, refused]);
  await channel.close().catch(() => undefined);
  return outcome;
}

/** Publishes, and waits until RabbitMQ has stored it or refused it. */
export const publish = (thief: Thief, { exchange, routingKey, body, properties }: Forged): Promise<'done' | number> =>
  thief.attempt(async (channel) => {
    channel.publish(exchange, routingKey, body, properties);
    await channel.waitForConfirms();
  });

/** The queue in which a message became a dead letter, its id, and the reason. */
type Death = { queue: string; messageId: string; reason: string };

/** Waits until each of these is a dead letter in each of its queues, because it was not signed. Removes them. */
export async function areRefused(trial: Trial, stack: StackFile, forged: readonly Forged[]): Promise<void> {
  const wanted = forged.flatMap(({ queues, properties: { messageId }, what }) =>
    queues.map((queue) => ({ queue, messageId, what })),
  );
  const deaths = new Map<string, string>();
  const keyOf = ({ queue, messageId }: Pick<Death, 'queue' | 'messageId'>): string => `${queue} ${messageId}`;
  const ids = new Set(wanted.map(({ messageId }) => messageId));
  const all = (): boolean => wanted.every((one) => deaths.has(keyOf(one)));
  await eventually(
    async () => {
      for (const death of await takeDeadLetters(stack, ids)) deaths.set(keyOf(death), death.reason);
      if (!all()) throw new Error('not all of them are dead letters');
    },
    { intervalMs: 200, timeoutMs: 60_000 },
  ).catch(() => undefined);
  for (const one of wanted) {
    const reason = deaths.get(keyOf(one)) ?? 'none';
    trial.holds(reason === 'not_signed', () => `${one.what} in ${one.queue}: dead letter with reason ${reason}`);
  }
}

/** More than one run makes. */
const LOOKED_AT_MAX = 20_000;

/** Removes the dead letters with these ids from every dead queue; the others go back. */
async function takeDeadLetters(stack: StackFile, ids: ReadonlySet<string>): Promise<Death[]> {
  const connection = await connect(stack.amqp_url, { noDelay: true });
  try {
    const deaths: Death[] = [];
    for (const { queue } of bindings) {
      const channel = await connection.createChannel();
      deaths.push(...(await takeFrom(channel, queue, ids)));
      await channel.close();
    }
    return deaths;
  } finally {
    await connection.close();
  }
}

async function takeFrom(channel: Channel, queue: string, ids: ReadonlySet<string>): Promise<Death[]> {
  const deaths: Death[] = [];
  for (let count = 0; count < LOOKED_AT_MAX; count += 1) {
    const message = await channel.get(deadQueueOf(queue), { noAck: false });
    if (message === false) break;
    const { messageId, headers } = message.properties as { messageId?: unknown; headers?: { reason?: unknown } };
    if (!ids.has(String(messageId))) continue;
    const { reason } = headers ?? {};
    deaths.push({ queue, messageId: String(messageId), reason: typeof reason === 'string' ? reason : 'unknown' });
    channel.ack(message);
  }
  return deaths;
}
