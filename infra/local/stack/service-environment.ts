import { join } from 'node:path';
import {
  NOTIFIER,
  serviceNames,
  settingPrefix,
  type CallOwner,
  type ServiceName,
} from '@quittance/contracts/service-name.ts';
import { trustedKeysOf } from '@quittance/runtime/trust.ts';
import { repositoryRoot, StackError, type Secrets } from './directory.ts';
import type { Ports } from './ports.ts';

/** What the stack sets for its services. Everything else comes from the environment of `npm start`. */
export type ServiceEnvironmentOptions = {
  secrets: Secrets;
  /** See StackOptions. */
  withoutKeys?: boolean;
  /** Database URL of a service's own role. */
  databaseUrls: Record<ServiceName, string>;
  /** Broker URL of a service's own user. */
  amqpUrls: Record<ServiceName, string>;
  serviceUrls: Record<ServiceName, string>;
  edgeUrl: string;
  consoleUrl: string;
  networksFile: string;
  receiverAddress: string;
  caCertificateFile: string;
  /** RATE_SOURCES, unless the environment has it. */
  rateSources: string;
  /** Whether the notifier runs, and where: WEBHOOK_NOTIFIER and NOTIFIER_URL. */
  notices: { target: string; url: string } | null;
  inherited: NodeJS.ProcessEnv;
};

/** Settings that the stack decides, each with an explanation or with what to set instead. */
const decidedByTheStack: Record<string, string> = {
  DATABASE_URL: 'POSTGRES_URL names a server of your own',
  DATABASE_DIRECT_URL: 'POSTGRES_URL names a server of your own',
  SIGNING_KEY: 'it is generated',
  TRUSTED_KEYS: 'they are generated',
  PUBLIC_BASE_URL: 'PORT_BASE moves the port of the edge',
  API_GATEWAY_URL: 'PORT_BASE moves all ports',
  PAYMENTS_URL: 'PORT_BASE moves all ports',
  CHAIN_WATCHER_URL: 'PORT_BASE moves all ports',
  WEBHOOK_DISPATCHER_URL: 'PORT_BASE moves all ports',
  QUOTA_URL: 'PORT_BASE moves all ports',
  WEBHOOK_ENCRYPTION_KEY: 'it is generated',
  WALLET_POOL_ENCRYPTION_KEY: 'it is generated',
  WEBHOOK_NOTIFIER: 'SMTP_URL starts a notifier',
  NOTIFIER_URL: 'SMTP_URL starts a notifier',
  WEBHOOK_LOCAL_RECEIVER: 'the stack has a receiver, and no webhook leaves the machine',
};

/** @throws StackError naming the settings that would have no effect, so that nobody relies on them. */
export function refuseDecidedSettings(environment: NodeJS.ProcessEnv): void {
  const refused = Object.keys(decidedByTheStack).filter((name) => environment[name] !== undefined);
  if (refused.length === 0) return;
  const reasons = refused.map((name) => `${name} (${decidedByTheStack[name]})`).join(', ');
  throw new StackError(`The stack decides these settings itself; unset them: ${reasons}.`);
}

/**
 * The settings of the image. The compile cache halves the time of the next start, which then does not load Node's type stripper (17 MB).
 * Two malloc arenas instead of one for each thread save 2 to 6 MB. Young generation halves of up to 8 MB instead of 16 save memory under
 * load; below 8, collecting them takes a noticeable part of the processor time.
 */
const leanProcess = {
  NODE_COMPILE_CACHE: join(repositoryRoot, '.local', 'compile-cache'),
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: '--max-semi-space-size=8',
};

export function serviceEnvironment(
  options: ServiceEnvironmentOptions,
  name: ServiceName,
  port: number,
): NodeJS.ProcessEnv {
  const { secrets, serviceUrls, inherited } = options;
  return {
    NODE_ENV: 'development',
    ...leanProcess,
    RATE_SOURCES: options.rateSources,
    ...ownMachine,
    ...inherited,
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: options.databaseUrls[name],
    AMQP_URL: options.amqpUrls[name],
    ...(options.withoutKeys !== true && keySettings(secrets, name)),
    ...(secrets.internal_token !== undefined && { INTERNAL_TOKEN: secrets.internal_token }),
    NETWORKS_FILE: options.networksFile,
    PUBLIC_BASE_URL: options.edgeUrl,
    ...urlSettings(serviceUrls),
    ...(name === 'payments' && { WALLET_POOL_ENCRYPTION_KEY: secrets.wallet_pool_encryption_key }),
    ...(name === 'webhook-dispatcher' && {
      WEBHOOK_ENCRYPTION_KEY: secrets.webhook_encryption_key,
      WEBHOOK_LOCAL_RECEIVER: options.receiverAddress,
      NODE_EXTRA_CA_CERTS: options.caCertificateFile,
      ...(options.notices !== null && { WEBHOOK_NOTIFIER: options.notices.target }),
    }),
  };
}

/** The keys by which a service recognizes callers and is recognized. */
export const keySettings = ({ signing_keys: keys }: Pick<Secrets, 'signing_keys'>, name: CallOwner) => ({
  SIGNING_KEY: keys[name],
  TRUSTED_KEYS: trustedKeysOf(keys),
});

/** Browsers allow passkeys without HTTPS under this name alone. */
const ownMachine = { CONSOLE_RP_ID: 'localhost' };

/** The console gets the services' addresses, and no secret. */
export const consoleEnvironment = (
  { serviceUrls, networksFile, notices, inherited }: ServiceEnvironmentOptions,
  { console: port, consoleProbes }: Pick<Ports, 'console' | 'consoleProbes'>,
): NodeJS.ProcessEnv => ({
  NODE_ENV: 'development',
  ...leanProcess,
  ...ownMachine,
  ...inherited,
  PORT: String(port),
  PROBES_PORT: String(consoleProbes),
  NETWORKS_FILE: networksFile,
  HOST: '127.0.0.1',
  ...urlSettings(serviceUrls),
  ...(notices !== null && { NOTIFIER_URL: notices.url }),
});

export type NotifierSettings = { databaseUrl: string; certificateFile: string; keyFile: string };

/** How it sends comes from the environment, except for a sender that nobody can answer. */
export const notifierEnvironment = (
  { secrets, serviceUrls, consoleUrl, inherited }: ServiceEnvironmentOptions,
  { notifier: port, notifierHooks }: Pick<Ports, 'notifier' | 'notifierHooks'>,
  { databaseUrl, certificateFile, keyFile }: NotifierSettings,
): NodeJS.ProcessEnv => ({
  NODE_ENV: 'development',
  ...leanProcess,
  NOTICES_FROM: 'notices@quittance.example',
  ...inherited,
  PORT: String(port),
  HOST: '127.0.0.1',
  DATABASE_URL: databaseUrl,
  ...keySettings(secrets, NOTIFIER),
  WEBHOOK_DISPATCHER_URL: serviceUrls['webhook-dispatcher'],
  HOOKS_PORT: String(notifierHooks),
  HOOKS_CERTIFICATE_FILE: certificateFile,
  HOOKS_KEY_FILE: keyFile,
  NOTICES_ENCRYPTION_KEY: secrets.notices_encryption_key,
  CONSOLE_URL: consoleUrl,
});

const urlSettings = (urls: Record<ServiceName, string>) => ({
  API_GATEWAY_URL: urls['api-gateway'],
  PAYMENTS_URL: urls.payments,
  CHAIN_WATCHER_URL: urls['chain-watcher'],
  WEBHOOK_DISPATCHER_URL: urls['webhook-dispatcher'],
  QUOTA_URL: urls.quota,
});

/**
 * The environment of all services in one process. A setting of one service, or one that differs between services, has the service's name as
 * a prefix.
 */
export function singleEnvironment(
  options: ServiceEnvironmentOptions,
  ports: Record<ServiceName, number>,
): NodeJS.ProcessEnv {
  const own = serviceNames.flatMap((name): [string, string][] => [
    [`${settingPrefix(name)}PORT`, String(ports[name])],
    [`${settingPrefix(name)}DATABASE_URL`, options.databaseUrls[name]],
    [`${settingPrefix(name)}AMQP_URL`, options.amqpUrls[name]],
    [`${settingPrefix(name)}SIGNING_KEY`, options.secrets.signing_keys[name]],
  ]);
  // Removes the settings that each service has its own value of, so that no service uses another's.
  const { PORT, DATABASE_URL, AMQP_URL, SIGNING_KEY, ...shared } = serviceEnvironment(options, 'webhook-dispatcher', 0);
  const { WALLET_POOL_ENCRYPTION_KEY } = serviceEnvironment(options, 'payments', 0);
  return { ...shared, WALLET_POOL_ENCRYPTION_KEY, ...Object.fromEntries(own) };
}
