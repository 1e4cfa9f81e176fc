import type { Channel } from 'amqplib';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { bindings, DEAD_EXCHANGE, deadQueueOf, EXCHANGE, type Binding } from '@quittance/messaging/broker/topology.ts';
import { send } from '../../support/http.ts';
import type { Check, Trial } from '../attack.ts';
import type { Thief, Thieves } from './broker-thief.ts';

const ACCESS_REFUSED = 403;

/** What the RabbitMQ user of one service must not do to objects of others. */
export function brokerUsers(stack: StackFile, { ofServices }: Thieves): Check[] {
  const ofEach = (name: string, run: (trial: Trial, thief: Thief) => Promise<void>): Check => ({
    name,
    async run(trial) {
      if (ofServices === null) {
        trial.skip('the broker of this stack has no management API, by which services get users of their own');
        return;
      }
      for (const thief of ofServices) await run(trial, thief);
    },
  });
  return [
    ofEach("no service's RabbitMQ user hears what others are told, or their dead letters", hearing),
    ofEach("no service's RabbitMQ user reads, empties, deletes or rebinds the queue of another", queues),
    ofEach("no service's RabbitMQ user makes queues elsewhere, or makes, deletes or changes exchanges", exchanges),
    ofEach("no service's RabbitMQ user is let into the management API", (trial, thief) =>
      management(trial, thief, stack),
    ),
  ];
}

async function isRefused(
  trial: Trial,
  thief: Thief,
  what: string,
  run: (channel: Channel) => Promise<unknown>,
): Promise<void> {
  const outcome = await thief.attempt(run);
  trial.holds(outcome === ACCESS_REFUSED, () => `${thief.name} could ${what}: RabbitMQ answered ${outcome}`);
}

async function queues(trial: Trial, thief: Thief): Promise<void> {
  const foreign = bindings.filter(({ service }) => service !== thief.name);
  for (const { queue: source } of foreign) {
    for (const queue of [source, deadQueueOf(source)]) {
      const tried: [string, (channel: Channel) => Promise<unknown>][] = [
        ['get from', (channel) => channel.get(queue)],
        ['consume', (channel) => channel.consume(queue, () => undefined)],
        ['purge', (channel) => channel.purgeQueue(queue)],
        ['delete', (channel) => channel.deleteQueue(queue, { ifUnused: true })],
        ['bind', (channel) => channel.bindQueue(queue, EXCHANGE, '#')],
        ['unbind', (channel) => channel.unbindQueue(queue, EXCHANGE, 'PaymentPaid')],
      ];
      for (const [what, run] of tried) await isRefused(trial, thief, `${what} ${queue}`, run);
    }
  }
}

/** For a queue of its own name, and for its existing queues. */
async function hearing(trial: Trial, thief: Thief): Promise<void> {
  const isOwn = ({ service }: Binding) => service === thief.name;
  const heard = new Set(bindings.filter(isOwn).map(({ message }) => message.name));
  const keys = ['#', '*', '*.#', ...bindings.map(({ message }) => message.name).filter((name) => !heard.has(name))];
  const spy = `${thief.name}.spy`;
  const declare = (channel: Channel) => channel.assertQueue(spy, { exclusive: true });
  await isRefused(trial, thief, `declare ${spy}`, declare);
  for (const queue of [spy, ...bindings.filter(isOwn).map((row) => row.queue)]) {
    const bind = (exchange: string, key: string) =>
      isRefused(trial, thief, `bind ${queue} to ${exchange} by ${key}`, async (channel) => {
        if (queue === spy) await declare(channel);
        await channel.bindQueue(queue, exchange, key);
        await channel.unbindQueue(queue, exchange, key);
      });
    for (const key of keys) await bind(EXCHANGE, key);
    for (const row of bindings) await bind(DEAD_EXCHANGE, row.queue);
  }
  for (const [to, from] of [
    [EXCHANGE, DEAD_EXCHANGE],
    [DEAD_EXCHANGE, EXCHANGE],
  ] as const)
    await isRefused(trial, thief, `bind ${to} to ${from}`, async (channel) => {
      await channel.bindExchange(to, from, '#');
      await channel.unbindExchange(to, from, '#');
    });
}

async function exchanges(trial: Trial, thief: Thief): Promise<void> {
  const tried: [string, (channel: Channel) => Promise<unknown>][] = [
    ['declare a queue', (channel) => channel.assertQueue('spy')],
    ['declare a queue that the broker names', (channel) => channel.assertQueue('')],
    ['declare an exchange', (channel) => channel.assertExchange('spy', 'fanout')],
    ['declare an alternate exchange', (channel) => channel.assertExchange(`${EXCHANGE}.spy`, 'topic')],
    ...[EXCHANGE, DEAD_EXCHANGE].map((exchange): [string, (channel: Channel) => Promise<unknown>] => [
      `delete ${exchange}`,
      (channel) => channel.deleteExchange(exchange, { ifUnused: true }),
    ]),
  ];
  for (const [what, run] of tried) await isRefused(trial, thief, what, run);
}

/** Does not throw: an address that does not answer is not a refusal. */
async function management(trial: Trial, { name }: Thief, stack: StackFile): Promise<void> {
  const { origin } = new URL(stack.management_url!);
  const { username, password } = new URL(stack.amqp_urls[name as keyof StackFile['amqp_urls']]);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  const tried: [string, string, object?][] = [
    ['GET', '/api/overview'],
    ['GET', '/api/definitions'],
    ['GET', '/api/queues'],
    ['PUT', '/api/users/spy', { password: 'spy', tags: 'administrator' }],
  ];
  for (const [method, path, body] of tried) {
    const { status } = await send(method, origin + path, { headers, body });
    trial.holds(status === 401 || status === ACCESS_REFUSED, () => `${name}: ${method} ${path} answered ${status}`);
  }
}
