import { settings } from '@quittance/runtime/settings.ts';

/** Everything this service can be told from outside, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    host: read.text('HOST', { default: '0.0.0.0' }),
    port: read.integer('PORT', { min: 0, max: 65_535 }),
    databaseUrl: read.secret('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 1, max: 200 }),
    amqpUrl: read.secret('AMQP_URL'),
    internalToken: read.secret('INTERNAL_TOKEN', { minLength: 32 }),
  }));

/** Migrating needs the database only. */
export const readMigrationConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({ databaseUrl: read.secret('DATABASE_URL') }));
