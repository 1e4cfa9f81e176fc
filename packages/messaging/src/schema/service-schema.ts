import { schemas, type ServiceName } from '@quittance/contracts/service-name.ts';
import type { MigrationSource } from '@quittance/postgres/migrations/source.ts';
import { version } from '@quittance/runtime/version.ts';

const ownFolder = new URL('../../', import.meta.url);

/** The tables and functions this package needs in the schema of every service: `outbox`, `inbox` and `sent_message`. */
export const messagingMigrations: MigrationSource = { directory: ownFolder, ledger: 'messaging_migrations', version };

/**
 * The schema of a service and everything it is made from: the message tables, then its own `migrations` and `sql` folders. Nothing else
 * here knows where services are; these are files to be applied, not code to be imported.
 */
export const serviceSchema = (service: ServiceName): { schema: string; migrations: MigrationSource[] } => ({
  schema: schemas[service],
  migrations: [
    messagingMigrations,
    { directory: new URL(`../../services/${service}/`, ownFolder), ledger: 'migrations', version },
  ],
});
