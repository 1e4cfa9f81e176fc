import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { startRabbitmq, type Rabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { addVirtualHost as add } from '@quittance/testkit/broker.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { withDatabase } from '../../support/database.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { requireDurable } from './postgres.ts';

export type Backends = {
  /** For what else belongs to the run; removed at its end. */
  directory: string;
  /** The superuser's address. */
  adminUrl: string;
  broker: Rabbitmq;
};

/**
 * A PostgreSQL, whose commits wait for the disk as in production, and a RabbitMQ, for one benchmark alone, unless it is a smoke run.
 * @param settings of PostgreSQL beside its defaults.
 */
export const startBackends = (
  name: string,
  settings: Record<string, string>,
  { opened }: BenchmarkContext,
): Promise<Backends> => opened('backends', (onEnd) => openBackends(name, settings, onEnd));

async function openBackends(
  name: string,
  settings: Record<string, string>,
  onEnd: BenchmarkContext['onEnd'],
): Promise<Backends> {
  const directory = await mkdtemp(join(tmpdir(), `quittance-${name}-`));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  // PostgreSQL's own user, when we are root, has to pass through.
  await chmod(directory, 0o711);
  const [postgres, amqp, management, distribution, epmd] = (await freePorts(5)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const adminUrl = await startServer(directory, postgres, settings, onEnd);
  await requireDurable(adminUrl);
  const broker = await startRabbitmq({
    directory: join(directory, 'rabbitmq'),
    toolsDirectory: stackDirectory().tools,
    ports: { amqp, management, distribution, epmd },
    logFile: join(directory, 'rabbitmq.log'),
  });
  onEnd(() => broker.stop());
  return { directory, adminUrl, broker };
}

/** @returns the address of a virtual host that no other process uses. @throws Error where the broker has no management plugin. */
export async function addVirtualHost({ url, managementUrl }: Rabbitmq, name: string): Promise<string> {
  if (managementUrl === null) throw new Error('RabbitMQ has no management plugin here');
  return add({ amqpUrl: url, managementUrl }, name);
}

/** The settings are kept with the data, and some of them are read at the start only. */
async function startServer(
  directory: string,
  port: number,
  settings: Record<string, string>,
  onEnd: BenchmarkContext['onEnd'],
): Promise<string> {
  await mkdir(join(directory, 'postgres'), { recursive: true });
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
