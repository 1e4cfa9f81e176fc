import { parseNetworks } from '@quittance/contracts/networks.ts';
import { commonSettings, serviceUrl } from '@quittance/runtime/service-settings.ts';
import { settings } from '@quittance/runtime/settings.ts';

/** Every setting of this service, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    ...commonSettings(read),
    paymentsUrl: serviceUrl(read, 'PAYMENTS_URL'),
    webhookDispatcherUrl: serviceUrl(read, 'WEBHOOK_DISPATCHER_URL'),
    networks: read.jsonFile('NETWORKS_FILE', parseNetworks),
  }));
