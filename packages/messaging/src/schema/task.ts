import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import type { MigrationSource } from '@quittance/postgres/migrations/source.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { runTask } from '@quittance/runtime/service.ts';
import { readMigrationConfig } from '@quittance/runtime/service-settings.ts';
import { serviceSchema } from './service-schema.ts';

/** sysexits.h EX_USAGE */
const EXIT_USAGE = 64;

/** The frame of migrate.ts and await-migrations.ts: runs for the service that the first argument names. */
export async function runForService(
  run: (target: { url: string; schema: string; migrations: MigrationSource[]; logger: Logger }) => Promise<void>,
): Promise<void> {
  const [, , service] = process.argv;
  if (!isServiceName(service)) {
    process.stderr.write(`name one service: ${serviceNames.join(', ')}\n`);
    process.exit(EXIT_USAGE);
  }
  await runTask({
    name: service,
    readConfig: readMigrationConfig,
    run: ({ config, logger }) => run({ url: config.databaseUrl, ...serviceSchema(service), logger }),
  });
}

const isServiceName = (name: string | undefined): name is ServiceName => serviceNames.some((known) => known === name);
