import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import type { StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import type { Ports } from '@quittance/local-stack/stack/ports.ts';
import { withDatabase } from '../../support/database.ts';
import { journeyStack, type JourneyStack } from '../../support/journey-stack.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import { postgresVersion, rabbitmqVersion } from './server-versions.ts';

/**
 * A new stack with one process of each service and production settings, whose PostgreSQL can count statements. It only counts during
 * `countStatements`, because counting has a cost.
 */
export const benchmarkStack = ({ opened, scale, ranOn }: BenchmarkContext): Promise<JourneyStack> =>
  opened('stack', async (onEnd) => {
    const stack = await journeyStack({ sharesBroker: scale === 'smoke', prepare: preloadStatementCounter });
    onEnd(() => stack.close());
    ranOn('PostgreSQL', await postgresVersion(stack.file.postgres_url));
    ranOn('RabbitMQ', await rabbitmqVersion(stack.file.amqp_url));
    return stack;
  });

/** The library is only loaded at the start of the server; the setting is stored with the data. */
async function preloadStatementCounter(directory: StackDirectory, { postgres: port }: Ports): Promise<void> {
  await mkdir(directory.logs, { recursive: true });
  const logFile = join(directory.logs, 'postgres.log');
  const postgres = await startPostgres({ directory: directory.postgres, port, logFile });
  try {
    await withDatabase(postgres.url, async (db) => {
      await db.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
      await db.query(`alter system set pg_stat_statements.track = 'none'`);
    });
  } finally {
    await postgres.stop();
  }
}
