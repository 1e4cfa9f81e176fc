import { awaitMigrations } from '@quittance/postgres/await-migrations.ts';
import { runTask } from '@quittance/runtime/service.ts';
import { readMigrationConfig } from '@quittance/runtime/service-settings.ts';
import { migrations, schema } from './migrations.ts';

// Run where a new version starts beside an old one: it ends once migrate.ts of this version has done its work elsewhere.
await runTask({
  name: 'api-gateway',
  readConfig: readMigrationConfig,
  run: ({ config, logger }) => awaitMigrations({ url: config.databaseUrl, schema, migrations, logger }),
});
