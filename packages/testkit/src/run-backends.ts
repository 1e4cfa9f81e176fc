import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, freePorts } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { startRabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import type { Backend } from './backend.ts';
import { dropTemplates, newTemplatePrefix, TEMPLATES } from './database-template.ts';
import { removeStaleRunDirectories, runDirectoryPrefix } from './run-directory.ts';

const tools = fileURLToPath(new URL('../../../.local/tools', import.meta.url));

/**
 * The PostgreSQL and the RabbitMQ that a whole test run shares. Servers named in the environment are used. The others
 * are started: in containers if a Docker engine answers, else the embedded ones of the local stack, in a temporary
 * directory that is removed when this process ends.
 */
export async function startRunBackends(): Promise<Backend> {
  await removeStaleRunDirectories();
  const { TEST_POSTGRES_URL, TEST_AMQP_URL, TEST_AMQP_MANAGEMENT_URL } = process.env;
  const directory = await mkdtemp(join(tmpdir(), `${runDirectoryPrefix}${process.pid}-`));
  // As root, PostgreSQL runs as another user, who must be able to enter the directory.
  await chmod(directory, 0o711);
  const docker = await dockerAnswers();
  const starts = [
    ...(TEST_POSTGRES_URL
      ? []
      : [docker && !process.env['POSTGRES_BIN'] ? containerised('postgres') : embeddedPostgres(directory)]),
    ...(TEST_AMQP_URL && TEST_AMQP_MANAGEMENT_URL
      ? []
      : [docker ? containerised('rabbitmq') : embeddedRabbitmq(directory)]),
  ];

  const settled = await Promise.allSettled(starts);
  const started = settled.filter((result) => result.status === 'fulfilled').map((result) => result.value);
  const templates = newTemplatePrefix();
  const stop = async () => {
    if (TEST_POSTGRES_URL) await dropTemplates(TEST_POSTGRES_URL, templates);
    await Promise.all(started.map((backend) => backend.stop()));
    // A killed server's children may still write for a moment.
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  const failure = settled.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const environment = Object.fromEntries(started.flatMap((backend) => Object.entries(backend.environment)));
  return { environment: { ...environment, [TEMPLATES]: templates }, stop };
}

async function embeddedPostgres(directory: string): Promise<Backend> {
  const port = await freePort();
  const server = await startPostgres({
    directory: join(directory, 'postgres'),
    port,
    logFile: join(directory, 'postgres.log'),
    durable: false,
    temporaryDirectory: directory,
  });
  return { environment: { TEST_POSTGRES_URL: server.url }, stop: server.kill };
}

async function embeddedRabbitmq(directory: string): Promise<Backend> {
  const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
  const node = await startRabbitmq({
    directory: join(directory, 'rabbitmq'),
    toolsDirectory: tools,
    ports: { amqp, management, distribution, epmd },
    logFile: join(directory, 'rabbitmq.log'),
    temporaryDirectory: directory,
  });
  return {
    environment: {
      TEST_AMQP_URL: node.url,
      ...(node.managementUrl ? { TEST_AMQP_MANAGEMENT_URL: node.managementUrl } : {}),
    },
    stop: node.kill,
  };
}

/** The library is large and sends many requests to the engine, so it is loaded only if there is one. */
async function containerised(name: 'postgres' | 'rabbitmq'): Promise<Backend> {
  const containers = await import('./containers.ts');
  return name === 'postgres' ? containers.startPostgresContainer() : containers.startRabbitmqContainer();
}

function dockerAnswers(): Promise<boolean> {
  if (process.env.DOCKER_HOST?.startsWith('tcp:')) return Promise.resolve(true);
  const path = process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: 1000 });
    socket
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false))
      .once('timeout', () => resolve(false));
    socket.once('connect', () => socket.destroy()).once('timeout', () => socket.destroy());
  });
}
