import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { images, inContainer, startContainer } from './container.ts';
import { requireFreePort } from './ports.ts';
import { managementAnswers, secretFile, user, type Rabbitmq, type RabbitmqOptions } from './rabbitmq-node.ts';

/** The image's own user, used when we are root, because RabbitMQ must not run as root. */
const imageUser = { uid: 100, gid: 101 };

/**
 * Like the private node, but in a container: data, user and password in the directory, two ports on 127.0.0.1.
 * @throws Error naming a port in use, or the engine's or the broker's error.
 */
export async function startRabbitmqContainer(options: RabbitmqOptions): Promise<Rabbitmq> {
  const { directory, ports, logFile, temporaryDirectory } = options;
  const data = join(directory, 'container');
  await mkdir(data, { recursive: true });
  const isRoot = process.getuid?.() === 0;
  const { uid, gid } = isRoot ? imageUser : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (isRoot) await chown(data, uid, gid);
  const password = await secretFile(join(directory, 'password'));
  await requireFreePort(ports.amqp, 'RabbitMQ (amqp)');
  await requireFreePort(ports.management, 'RabbitMQ (management)');
  const container = await startContainer({
    name: 'RabbitMQ',
    directory,
    logFile,
    image: images.rabbitmq,
    graceMs: 10_000,
    ...(temporaryDirectory === undefined ? {} : { temporaryDirectory }),
    options: [
      // Its data is stored under the host's name.
      ...['--hostname', 'rabbitmq', '--user', `${uid}:${gid}`, '--volume', `${data}:/var/lib/rabbitmq`],
      ...['--publish', `127.0.0.1:${ports.amqp}:5672`, '--publish', `127.0.0.1:${ports.management}:15672`],
      ...['--env', `RABBITMQ_DEFAULT_USER=${user}`, '--env', `RABBITMQ_DEFAULT_PASS=${password}`],
    ],
  });
  const credentials = `${user}:${password}@127.0.0.1`;
  const managementUrl = `http://${credentials}:${ports.management}`;
  const refusal = await Promise.race([container.exited, untilReady(managementUrl)]);
  if (refusal !== null) {
    await container.stop();
    throw new Error(
      `${refusal} before it was ready on ${directory}:\n${container.lastWords()}\n\`npm run reset\` forgets all local data.`,
    );
  }
  const control = (...args: string[]) => inContainer(directory, ['rabbitmqctl', ...args]);
  return {
    url: `amqp://${credentials}:${ports.amqp}`,
    managementUrl,
    pid: container.pid,
    exited: container.exited,
    stop: container.stop,
    kill: container.kill,
    control,
    stopApp: async () => {
      await control('stop_app');
    },
    startApp: async () => {
      await control('start_app');
    },
  };
}

/** The engine accepts connections before the broker listens, so the broker itself is checked. */
async function untilReady(managementUrl: string): Promise<null | string> {
  const deadline = Date.now() + 90_000;
  while (Date.now() < deadline) {
    if (await managementAnswers(managementUrl, '/api/health/checks/port-listener/5672')) return null;
    await delay(50);
  }
  return 'RabbitMQ did not listen within 90 seconds and was stopped';
}
