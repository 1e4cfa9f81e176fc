import { messagingMigrations } from '@quittance/messaging/migrations.ts';
import { migrate } from '@quittance/postgres/migrate.ts';
import { runTask } from '@quittance/runtime/service.ts';
import { readMigrationConfig } from './config.ts';
import { migrations } from './migrations.ts';

await runTask({
  name: 'api-gateway',
  readConfig: readMigrationConfig,
  run: ({ config, logger }) =>
    migrate({ url: config.databaseUrl, schema: 'gateway', migrations: [messagingMigrations, migrations], logger }),
});
