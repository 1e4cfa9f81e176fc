import { parseNetworks } from '@quittance/contracts/networks.ts';
import { settings, type SettingsReader } from '@quittance/runtime/settings.ts';

const http = { protocols: ['http:', 'https:'] };

/** Everything this service can be told from outside, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    host: read.text('HOST', { default: '0.0.0.0' }),
    port: read.integer('PORT', { min: 0, max: 65_535 }),
    databaseUrl: databaseUrl(read),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 1, max: 200 }),
    amqpUrl: read.url('AMQP_URL', { protocols: ['amqp:', 'amqps:'] }),
    internalToken: read.secret('INTERNAL_TOKEN', { minLength: 32 }),
    paymentsUrl: read.url('PAYMENTS_URL', http),
    webhookDispatcherUrl: read.url('WEBHOOK_DISPATCHER_URL', http),
    networks: read.jsonFile('NETWORKS_FILE', parseNetworks),
  }));

/** The migrations need the database only. */
export const readMigrationConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({ databaseUrl: databaseUrl(read) }));

const databaseUrl = (read: SettingsReader) => read.url('DATABASE_URL', { protocols: ['postgres:', 'postgresql:'] });
