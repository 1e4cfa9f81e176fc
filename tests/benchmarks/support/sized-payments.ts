import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@quittance/local-stack/backends/ports.ts';
import { startPostgres } from '@quittance/local-stack/backends/postgres.ts';
import { startRabbitmq, type Rabbitmq } from '@quittance/local-stack/backends/rabbitmq.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { withDatabase } from '../../support/database.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { fillDatabase } from './filled-database.ts';
import { paymentsDatabase } from './payments-database.ts';
import { startPaymentsProcess, type PaymentsProcess } from './payments-process.ts';
import { requireDurable } from './postgres.ts';

export type SizedPayments = {
  /** How many payments the database began with. */
  size: number;
  /** The superuser's address of its database. */
  adminUrl: string;
  /** Bytes of the database. */
  bytes: number;
  process: PaymentsProcess;
  /** A virtual host of its own. */
  amqpUrl: string;
};

/** Payments in a database, the baseline first. */
export const SIZES = [10_000, 100_000, 1_000_000];

/** Holds every database whole: what is compared is how much work there is, not how much memory. */
export const SHARED_BUFFERS = '3GB';

const settings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
  shared_buffers: SHARED_BUFFERS,
};

/** One payments process on one database for each size, all on one PostgreSQL and one RabbitMQ. */
export async function startSizedPayments(context: BenchmarkContext): Promise<SizedPayments[]> {
  const { say, onEnd } = context;
  const directory = await mkdtemp(join(tmpdir(), 'quittance-size-'));
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
  const adminUrl = await startServer(directory, postgres, onEnd);
  await requireDurable(adminUrl);
  const broker = await startRabbitmq({
    directory: join(directory, 'rabbitmq'),
    toolsDirectory: stackDirectory().tools,
    ports: { amqp, management, distribution, epmd },
    logFile: join(directory, 'rabbitmq.log'),
  });
  onEnd(() => broker.stop());
  const started: SizedPayments[] = [];
  for (const size of SIZES) {
    say(`  filling a database with ${size.toLocaleString('en-US')} payments …`);
    const sized = await startOne({ adminUrl, broker, directory, size });
    onEnd(() => sized.process.stop());
    started.push(sized);
  }
  return started;
}

/** The settings are kept with the data, and some of them are read at the start only. */
async function startServer(directory: string, port: number, onEnd: BenchmarkContext['onEnd']): Promise<string> {
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

async function startOne(options: {
  adminUrl: string;
  broker: Rabbitmq;
  directory: string;
  size: number;
}): Promise<SizedPayments> {
  const { broker, directory, size } = options;
  const name = `payments_${size}`;
  const database = await paymentsDatabase({
    adminUrl: options.adminUrl,
    database: name,
    password: 'only for a benchmark',
  });
  await fillDatabase(database.adminUrl, size);
  const amqpUrl = new URL(broker.url);
  amqpUrl.pathname = `/${name}`;
  await broker.control('add_vhost', name);
  await broker.control('set_permissions', '-p', name, decodeURIComponent(amqpUrl.username), '.*', '.*', '.*');
  const process = await startPaymentsProcess({
    name,
    directory,
    databaseUrl: database.url,
    amqpUrl: amqpUrl.href,
  });
  const bytes = await withDatabase(database.adminUrl, async (db) => {
    const { rows } = await db.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
    return Number(rows[0]?.bytes);
  });
  return { size, adminUrl: database.adminUrl, bytes, process, amqpUrl: amqpUrl.href };
}
