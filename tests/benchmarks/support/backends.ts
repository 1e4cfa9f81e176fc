import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { startRabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { startRedis, type Redis } from '@quittance/local-backends/redis.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { addVirtualHost, testBroker } from '@quittance/testkit/broker.ts';
import { withDatabase } from '../../support/database.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { requireDurable } from './postgres.ts';
import { postgresVersion, rabbitmqVersion } from './server-versions.ts';

export type Backends = {
  /** For other files of the run; removed at its end. */
  directory: string;
  /** The superuser's address. */
  adminUrl: string;
  /** Stops PostgreSQL as an update of it does, and starts it on the same port. */
  postgres: { stop(): Promise<void>; start(): Promise<void> };
  broker: BenchmarkBroker;
};

type BenchmarkBroker = {
  /** Null where the test run's broker is used. */
  pid: number | null;
  /** @returns the address of a virtual host that no other process uses. @throws Error where the broker has no management plugin. */
  addVirtualHost(name: string): Promise<string>;
};

/** Added to PostgreSQL's defaults. Memory holds every database whole: what is compared is work, not memory. */
const settings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
  shared_buffers: '3GB',
};

/**
 * A PostgreSQL, whose commits wait for the disk as in production, and a RabbitMQ, for one part. All parts of a smoke run share them.
 */
export const startBackends = (name: string, { opened, scale, ranOn }: BenchmarkContext): Promise<Backends> =>
  opened('backends', (onEnd) => openBackends(name, { scale, ranOn, onEnd }));

type Opening = Pick<BenchmarkContext, 'scale' | 'ranOn' | 'onEnd'>;

async function openBackends(name: string, opening: Opening): Promise<Backends> {
  const { onEnd, ranOn } = opening;
  const directory = await mkdtemp(join(tmpdir(), `quittance-${name}-`));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  // When we are root, PostgreSQL runs as its own user, which must reach its files.
  await chmod(directory, 0o711);
  const { adminUrl, postgres } = await startServer(directory, onEnd);
  await requireDurable(adminUrl);
  ranOn('PostgreSQL', await postgresVersion(adminUrl));
  return { directory, adminUrl, postgres, broker: await openBroker(directory, opening) };
}

/**
 * The Redis of queues that need one, or null with a line that says why there is none.
 * @param directory of the backends.
 */
export async function startBenchmarkRedis(
  directory: string,
  { onEnd, say }: Pick<BenchmarkContext, 'onEnd' | 'say'>,
): Promise<(Redis & { restart: Backends['postgres'] }) | null> {
  const [port] = (await freePorts(1)) as [number];
  const logFile = join(directory, 'redis.log');
  const options = { directory: join(directory, 'redis'), toolsDirectory: stackDirectory().tools, port, logFile };
  try {
    const first = await startRedis(options);
    let server = first;
    onEnd(() => server.stop());
    const start = async (): Promise<void> => void (server = await startRedis(options));
    return { ...first, restart: { stop: () => server.stop(), start } };
  } catch (error) {
    say(`  without BullMQ: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** A smoke run uses the RabbitMQ of the test run, if it has one: starting one takes four seconds of processor time. */
async function openBroker(directory: string, { scale, ranOn, onEnd }: Opening): Promise<BenchmarkBroker> {
  if (scale === 'smoke' && process.env['TEST_AMQP_MANAGEMENT_URL']) {
    const addOne = async (): Promise<string> => {
      const { url, close } = await testBroker();
      onEnd(close);
      return url;
    };
    return { pid: null, addVirtualHost: addOne };
  }
  const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
  const own = await startRabbitmq({
    directory: join(directory, 'rabbitmq'),
    toolsDirectory: stackDirectory().tools,
    ports: { amqp, management, distribution, epmd },
    logFile: join(directory, 'rabbitmq.log'),
  });
  onEnd(() => own.stop());
  ranOn('RabbitMQ', await rabbitmqVersion(own.url));
  return {
    pid: own.pid,
    addVirtualHost: async (name) => {
      const { url: amqpUrl, managementUrl } = own;
      if (managementUrl === null) throw new Error('RabbitMQ has no management plugin here');
      return addVirtualHost({ amqpUrl, managementUrl }, name);
    },
  };
}

/** The settings are stored with the data, and some are only read at the start. */
async function startServer(
  directory: string,
  onEnd: BenchmarkContext['onEnd'],
): Promise<Pick<Backends, 'adminUrl' | 'postgres'>> {
  await mkdir(join(directory, 'postgres'), { recursive: true });
  const [port] = (await freePorts(1)) as [number];
  const options = { directory: join(directory, 'postgres'), port, logFile: join(directory, 'postgres.log') };
  const first = await startPostgres(options);
  try {
    await withDatabase(first.url, async (db) => {
      for (const [name, value] of Object.entries(settings)) await db.query(`alter system set ${name} = '${value}'`);
    });
  } finally {
    await first.stop();
  }
  let server = await startPostgres(options);
  onEnd(() => server.stop());
  const start = async (): Promise<void> => void (server = await startPostgres(options));
  return { adminUrl: server.url, postgres: { stop: () => server.stop(), start } };
}
