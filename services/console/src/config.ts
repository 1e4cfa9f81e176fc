import { consoleAudiences } from '@quittance/contracts/http/api-gateway/people.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { parseTrustedProxies } from '@quittance/http/server/client-address.ts';
import { parseNetworks } from '@quittance/contracts/networks.ts';
import { serviceUrl } from '@quittance/runtime/service-settings.ts';
import { settings } from '@quittance/runtime/settings.ts';

/** Every setting of the console, checked once at start. It has no database, no broker and no secret of its own. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    host: read.text('HOST', { default: '0.0.0.0' }),
    port: read.integer('PORT', { min: 0, max: 65_535 }),
    /** For the platform and Prometheus: people reach the other port. */
    probesPort: read.integer('PROBES_PORT', { min: 0, max: 65_535 }),
    audience: read.oneOf('CONSOLE_AUDIENCE', consoleAudiences, { default: 'everyone' }),
    /** For the links to explorers; without it there are none. */
    networks: read.jsonFile('NETWORKS_FILE', parseNetworks, { default: [] }),
    /** The host name that passkeys of this console belong to; '' for none. api-gateway knows those of all consoles. */
    passkeysFor: read.text('CONSOLE_RP_ID', { default: '' }),
    trustedProxies: read.parsed('CONSOLE_TRUSTED_PROXIES', { default: parseTrustedProxies('') }, parseTrustedProxies),
    urls: {
      'api-gateway': serviceUrl(read, 'API_GATEWAY_URL'),
      payments: serviceUrl(read, 'PAYMENTS_URL'),
      quota: serviceUrl(read, 'QUOTA_URL'),
      'webhook-dispatcher': serviceUrl(read, 'WEBHOOK_DISPATCHER_URL'),
      'chain-watcher': serviceUrl(read, 'CHAIN_WATCHER_URL'),
    } satisfies Record<ServiceName, string>,
    /** Empty without notices. */
    notifierUrl: read.url('NOTIFIER_URL', { protocols: ['http:', 'https:'], default: '' }),
  }));
