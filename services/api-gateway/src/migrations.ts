import { fileURLToPath } from 'node:url';

/** The tables of the schema `gateway`, applied after those of messaging. */
export const migrations = {
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
  ledger: 'gateway_migrations',
};
