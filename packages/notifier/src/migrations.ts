import type { MigrationSource } from '@quittance/postgres/migrations/source.ts';
import { notifierSchema } from '@quittance/postgres/roles/service-databases.ts';
import { version } from '@quittance/runtime/version.ts';

/** The notifier's own schema. It sends no messages, so it has no tables for them. */
export const { schema } = notifierSchema;

export const migrations: MigrationSource[] = [
  { directory: new URL('../', import.meta.url), ledger: 'migrations', version },
];
