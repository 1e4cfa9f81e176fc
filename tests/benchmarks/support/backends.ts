import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { startRabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { addVirtualHost, testBroker } from '@quittance/testkit/broker.ts';
import { withDatabase } from '../../support/database.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { requireDurable } from './postgres.ts';

export type Backends = {
  /** For what else belongs to the run; removed at its end. */
  directory: string;
  /** The superuser's address. */
  adminUrl: string;
  broker: BenchmarkBroker;
};

export type BenchmarkBroker = {
  /** Null where it is not one of the benchmark's own. */
  pid: number | null;
  /** @returns the address of a virtual host that no other process uses. @throws Error where the broker has no management plugin. */
  addVirtualHost(name: string): Promise<string>;
};

/**
 * A PostgreSQL, whose commits wait for the disk as in production, and a RabbitMQ, for one benchmark alone, unless it is a smoke run.
 * @param settings of PostgreSQL beside its defaults.
 */
export const startBackends = (
  name: string,
  settings: Record<string, string>,
  { opened, scale }: BenchmarkContext,
): Promise<Backends> => opened('backends', (onEnd) => openBackends(name, { settings, scale, onEnd }));

type Opening = Pick<BenchmarkContext, 'scale' | 'onEnd'>;

async function openBackends(
  name: string,
  { settings, ...opening }: Opening & { settings: Record<string, string> },
): Promise<Backends> {
  const { onEnd } = opening;
  const directory = await mkdtemp(join(tmpdir(), `quittance-${name}-`));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  // PostgreSQL's own user, when we are root, has to pass through.
  await chmod(directory, 0o711);
  const adminUrl = await startServer(directory, settings, onEnd);
  await requireDurable(adminUrl);
  return { directory, adminUrl, broker: await openBroker(directory, opening) };
}

/** A smoke run takes the RabbitMQ of the test run, where that has one: to start one takes four seconds of processor time. */
async function openBroker(directory: string, { scale, onEnd }: Opening): Promise<BenchmarkBroker> {
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
  return {
    pid: own.pid,
    addVirtualHost: async (name) => {
      const { url: amqpUrl, managementUrl } = own;
      if (managementUrl === null) throw new Error('RabbitMQ has no management plugin here');
      return addVirtualHost({ amqpUrl, managementUrl }, name);
    },
  };
}

/** The settings are kept with the data, and some of them are read at the start only. */
async function startServer(
  directory: string,
  settings: Record<string, string>,
  onEnd: BenchmarkContext['onEnd'],
): Promise<string> {
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
  const server = await startPostgres(options);
  onEnd(() => server.stop());
  return server.url;
}
