import { settings } from '@quittance/runtime/settings.ts';
import { readNetworks } from './networks.ts';

const WEEK_SECONDS = 7 * 24 * 60 * 60;

/** Everything this service can be told from outside, checked once at start. No other file reads the environment. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return settings(env, (read) => ({
    port: read.integer('PORT', { min: 0, max: 65_535 }),
    host: read.text('HOST', { default: '0.0.0.0' }),
    databaseUrl: read.secret('DATABASE_URL'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: 2, max: 200 }),
    amqpUrl: read.secret('AMQP_URL'),
    internalToken: read.secret('INTERNAL_TOKEN', { minLength: 32 }),
    /** The networks that have RPC URLs, with `${NAME}` in those URLs replaced by the variable NAME. */
    networks: read.jsonFile('NETWORKS_FILE', (json) => readNetworks(json, env)),
    /** Deadline of one request to a node. */
    rpcTimeoutMs: read.integer('RPC_TIMEOUT_MS', { default: 10_000, min: 100, max: 60_000 }),
    /** How long after a payment's end its wallet is still watched, in chain time, so that late transfers are shown. */
    watchGraceSeconds: read.integer('WATCH_GRACE_SECONDS', { default: WEEK_SECONDS, min: 3600, max: 365 * 86_400 }),
  }));
}

/** What migrate.ts needs. */
export function readMigrationConfig(env: NodeJS.ProcessEnv) {
  return settings(env, (read) => ({ databaseUrl: read.secret('DATABASE_URL') }));
}
