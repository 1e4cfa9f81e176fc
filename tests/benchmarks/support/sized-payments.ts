import { withDatabase } from '../../support/database.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { startBackends, type BenchmarkBroker } from './backends.ts';
import { fillDatabase } from './filled-database.ts';
import type { LoneService } from '../../support/lone-service.ts';
import { startPaymentsProcess } from './payments-process.ts';
import { serviceDatabase } from '../../support/service-database.ts';

export type SizedPayments = {
  /** How many payments the database began with. */
  size: number;
  /** The superuser's address of its database. */
  adminUrl: string;
  /** Bytes of the database. */
  bytes: number;
  process: LoneService;
  /** A virtual host of its own. */
  amqpUrl: string;
};

/** Holds every database whole: what is compared is how much work there is, not how much memory. */
export const SHARED_BUFFERS = '3GB';

/** What every benchmark on backends of its own has. */
export const serverSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
  shared_buffers: SHARED_BUFFERS,
};

/** One payments process on one database for each size, all on one PostgreSQL and one RabbitMQ. */
export async function startSizedPayments(
  context: BenchmarkContext,
  sizes: readonly number[],
): Promise<SizedPayments[]> {
  const { say, onEnd } = context;
  const { directory, adminUrl, broker } = await startBackends('size', serverSettings, context);
  const started: SizedPayments[] = [];
  for (const size of sizes) {
    say(`  filling a database with ${size.toLocaleString('en-US')} payments …`);
    const sized = await startOne({ adminUrl, broker, directory, size });
    onEnd(() => sized.process.stop());
    started.push(sized);
  }
  return started;
}

async function startOne(options: {
  adminUrl: string;
  broker: BenchmarkBroker;
  directory: string;
  size: number;
}): Promise<SizedPayments> {
  const { broker, directory, size } = options;
  const name = `payments_${size}`;
  const database = await serviceDatabase({
    service: 'payments',
    adminUrl: options.adminUrl,
    database: name,
    password: 'only for a benchmark',
  });
  await fillDatabase(database.adminUrl, size);
  const amqpUrl = await broker.addVirtualHost(name);
  const process = await startPaymentsProcess({
    name,
    directory,
    databaseUrl: database.url,
    amqpUrl,
  });
  const bytes = await withDatabase(database.adminUrl, async (db) => {
    const { rows } = await db.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
    return Number(rows[0]?.bytes);
  });
  return { size, adminUrl: database.adminUrl, bytes, process, amqpUrl };
}
