import { serviceMigrations } from '@quittance/messaging/migrations.ts';

/** Where this service's tables live; its database role owns this schema and nothing else. */
export const schema = 'quota';

export const migrations = serviceMigrations(new URL('../migrations', import.meta.url));
