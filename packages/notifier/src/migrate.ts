import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import { runTask } from '@quittance/runtime/service.ts';
import { readMigrationConfig } from '@quittance/runtime/service-settings.ts';
import { migrations, schema } from './migrations.ts';

// `node packages/notifier/src/migrate.ts`, before a new version starts.
await runTask({
  name: NOTIFIER,
  readConfig: readMigrationConfig,
  run: ({ config, logger }) => migrate({ url: config.databaseUrl, schema, migrations, logger }),
});
