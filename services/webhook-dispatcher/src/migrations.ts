import { fileURLToPath } from 'node:url';
import { messagingMigrations } from '@quittance/messaging/migrations.ts';

/** Where this service's tables live; its database role owns this schema and nothing else. */
export const schema = 'webhooks';

/** In the order in which they run: the message tables, then the service's own. */
export const migrations = [
  messagingMigrations,
  { directory: fileURLToPath(new URL('../migrations', import.meta.url)), ledger: 'migrations' },
];
