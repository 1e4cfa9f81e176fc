import { fileURLToPath } from 'node:url';

/**
 * The tables this package needs in the schema of every service: `outbox` and `inbox`.
 * Goes first in the list that `migrate()` of @quittance/postgres takes; the ledger keeps them apart from the service's own.
 */
export const messagingMigrations = {
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
  ledger: 'messaging_migrations',
};
