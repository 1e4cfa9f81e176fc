import { parseNetworks } from '@quittance/contracts/networks.ts';
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
    networks: read.jsonFile('NETWORKS_FILE', parseNetworks),
    /** Where customers reach the checkout page. */
    publicBaseUrl: read.url('PUBLIC_BASE_URL', { protocols: ['https:', 'http:'] }),
    /** How long a payment waits for its money. */
    paymentTtlSeconds: read.integer('PAYMENT_TTL_SECONDS', { default: 1800, min: 1, max: 86_400 }),
    /** Whether a wallet belongs to the first merchant that creates a payment on it. */
    walletBinding: read.boolean('WALLET_BINDING', { default: true }),
    quotaUrl: read.url('QUOTA_URL', { protocols: ['http:', 'https:'] }),
    webhookDispatcherUrl: read.url('WEBHOOK_DISPATCHER_URL', { protocols: ['http:', 'https:'] }),
    chainWatcherUrl: read.url('CHAIN_WATCHER_URL', { protocols: ['http:', 'https:'] }),
  }));

/** Migrating needs the database only. */
export const readMigrationConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({ databaseUrl: read.secret('DATABASE_URL') }));
