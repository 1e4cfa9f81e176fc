import { parseNetworks } from '@quittance/contracts/networks.ts';
import { readOptionalEncryptionKey } from '@quittance/runtime/key-vault.ts';
import { commonSettings, serviceUrl } from '@quittance/runtime/service-settings.ts';
import { settings } from '@quittance/runtime/settings.ts';

/** All settings of this service, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    ...commonSettings(read),
    networks: read.jsonFile('NETWORKS_FILE', parseNetworks),
    /** Where customers reach the checkout page. */
    publicBaseUrl: read.url('PUBLIC_BASE_URL', { protocols: ['https:', 'http:'] }),
    /** How long a payment waits for its money. */
    paymentTtlSeconds: read.integer('PAYMENT_TTL_SECONDS', { default: 1800, min: 1, max: 86_400 }),
    /** Whether a wallet belongs to the first merchant that creates a payment on it. */
    walletBinding: read.boolean('WALLET_BINDING', { default: true }),
    /**
     * The minimum that a transfer must carry for a merchant to accept it, in percent of the payment's amount. Operators may accept less.
     */
    merchantAcceptMinPercent: read.integer('MERCHANT_ACCEPT_MIN_PERCENT', { default: 90, min: 1, max: 100 }),
    /** Seals the extended keys of pools. Null: merchants can use lists only. */
    walletPoolEncryptionKey: readOptionalEncryptionKey(read, 'WALLET_POOL_ENCRYPTION_KEY'),
    /** Also opens them: the next or the previous key, while one replaces the other. */
    walletPoolEncryptionKeyPrevious: readOptionalEncryptionKey(read, 'WALLET_POOL_ENCRYPTION_KEY_PREVIOUS'),
    /** How old the price of an exchange may be, and how far apart exchanges may be, to convert prices in other currencies. */
    rates: {
      maxAgeSeconds: read.integer('RATE_MAX_AGE_SECONDS', { default: 300, min: 60, max: 86_400 }),
      maxSpreadPercent: read.integer('RATE_MAX_SPREAD_PERCENT', { default: 1, min: 1, max: 10 }),
    },
    quotaUrl: serviceUrl(read, 'QUOTA_URL'),
    webhookDispatcherUrl: serviceUrl(read, 'WEBHOOK_DISPATCHER_URL'),
    chainWatcherUrl: serviceUrl(read, 'CHAIN_WATCHER_URL'),
  }));
