import { fileURLToPath } from 'node:url';
import type { MigrationSource } from '@quittance/postgres/migrate.ts';

/**
 * The tables this package needs in the schema of every service: `outbox`, `inbox` and `sent_message`.
 * The ledger keeps them apart from the service's own.
 */
export const messagingMigrations = {
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
  ledger: 'messaging_migrations',
};

/**
 * All migrations of a service in the order in which they run: the message tables, then the service's own.
 * @param directory of the service's own SQL files.
 * @param ledger the table that remembers which of those were applied.
 */
export const serviceMigrations = (directory: URL, ledger = 'migrations'): MigrationSource[] => [
  messagingMigrations,
  { directory, ledger },
];
