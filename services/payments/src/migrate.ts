import { migrate } from '@quittance/postgres/migrate.ts';
import { runTask } from '@quittance/runtime/service.ts';
import { readMigrationConfig } from '@quittance/runtime/service-settings.ts';
import { migrations, schema } from './migrations.ts';

// Run before a new version starts; a second one at the same time waits and finds nothing left to do.
await runTask({
  name: 'payments',
  readConfig: readMigrationConfig,
  run: ({ config, logger }) => migrate({ url: config.databaseUrl, schema, migrations, logger }),
});
