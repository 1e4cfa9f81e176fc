import { parseNetworks } from '@quittance/contracts/networks.ts';
import { commonSettings, serviceUrl } from '@quittance/runtime/service-settings.ts';
import { settings, type SettingsReader } from '@quittance/runtime/settings.ts';

/** All settings of this service, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    ...commonSettings(read),
    paymentsUrl: serviceUrl(read, 'PAYMENTS_URL'),
    webhookDispatcherUrl: serviceUrl(read, 'WEBHOOK_DISPATCHER_URL'),
    networks: read.jsonFile('NETWORKS_FILE', parseNetworks),
    passkeysFor: read.parsed('CONSOLE_RP_ID', { default: [] }, parsePasskeyHosts),
    optionRules: {
      expiresIn: readBounds(read),
      // A checkout page with plain HTTP is only for trying out.
      localReturnUrls: read.url('PUBLIC_BASE_URL', { protocols, default: 'https:' }).startsWith('http:'),
    },
  }));

const hostName = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;

/**
 * @returns the host names that passkeys belong to: of each console, or a domain above it.
 * @throws Error for a text that is no host name. Browsers accept no IP address; `localhost` is for a tunnel and one's own
 *   machine.
 */
function parsePasskeyHosts(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name === 'localhost' || hostName.test(name))) return names;
  throw new Error('must be host names of consoles in lower case, separated by commas, such as console.example.com');
}

const protocols = ['https:', 'http:'];

/** The maximum of PAYMENT_TTL_SECONDS in payments. */
const LONGEST_TTL_SECONDS = 86_400;

/** The bounds of `expires_in`. */
function readBounds(read: SettingsReader): { min: number; max: number } {
  const max = read.integer('PAYMENT_TTL_MAX_SECONDS', { default: 86_400, min: 1, max: LONGEST_TTL_SECONDS });
  const min = read.integer('PAYMENT_TTL_MIN_SECONDS', { default: Math.min(300, max), min: 1, max });
  return { min, max };
}
