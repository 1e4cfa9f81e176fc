import { readNetworks } from '@quittance/chain-reader/chain/networks.ts';
import { commonSettings } from '@quittance/runtime/service-settings.ts';
import { settings } from '@quittance/runtime/settings.ts';
import { type ConfiguredSource, parseSources } from './rates/sources.ts';

const WEEK_SECONDS = 7 * 24 * 60 * 60;

/** All settings of this service, checked once at start. No other file reads the environment. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return settings(env, (read) => ({
    ...commonSettings(read, { databasePoolMin: 4 }),
    /** The networks that have RPC URLs. `${NAME}` in a URL is replaced by the variable NAME. */
    networks: read.jsonFile('NETWORKS_FILE', (json) => readNetworks(json, env)),
    /** Deadline of one request to a node. */
    rpcTimeoutMs: read.integer('RPC_TIMEOUT_MS', { default: 10_000, min: 100, max: 60_000 }),
    /** How long a wallet stays watched after its last payment has ended, in chain time, so that late transfers are shown. */
    watchGraceSeconds: read.integer('WATCH_GRACE_SECONDS', { default: WEEK_SECONDS, min: 3600, max: 365 * 86_400 }),
    /** How many transactions are looked up on chain in an hour for one merchant and its customers. */
    lookUpsPerHour: read.integer('LOOK_UPS_PER_HOUR', { default: 120, min: 0, max: 100_000 }),
    /** The sources of exchange rates that are read, for prices in other currencies. None by default. */
    rateSources: read.parsed<ConfiguredSource[]>('RATE_SOURCES', { default: [] }, parseSources),
  }));
}
