import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { checkAmqpUrl } from '@quittance/runtime/amqp-urls.ts';
import { ConfigurationError, settings } from '@quittance/runtime/settings.ts';
import { Failure } from './failure.ts';

/** Every chain that is shipped, in a checkout and in the images. */
const shippedNetworksFile = fileURLToPath(new URL('../../../infra/networks.json', import.meta.url));
const localDirectory = fileURLToPath(new URL('../../../.local', import.meta.url));

/** `npm start` writes it in a checkout; LOCAL_DIRECTORY moves it. The environment overrides it. */
const stackFileOf = (env: NodeJS.ProcessEnv): string =>
  join(given(env)['LOCAL_DIRECTORY'] ?? localDirectory, 'stack.json');

/** The services that the command line calls, and the setting with the address of each. */
export const serviceSettings = {
  'api-gateway': 'API_GATEWAY_URL',
  payments: 'PAYMENTS_URL',
  quota: 'QUOTA_URL',
  'webhook-dispatcher': 'WEBHOOK_DISPATCHER_URL',
  'chain-watcher': 'CHAIN_WATCHER_URL',
} as const satisfies Record<ServiceName, string>;

const services = Object.entries(serviceSettings);

/** An empty text is a setting that was not given; whether that matters depends on the command. */
export type Config = {
  urls: Record<ServiceName, string>;
  /** For calls without an operator: the key of `ops`, or the token that all services shared up to release 0.2.0. */
  signingKey: string;
  sharedToken: string;
  /** The operator's credential. It overrides the other two. */
  operatorCredential: string;
  amqpUrl: string;
  /** Where browsers reach the console. */
  consoleUrl: string;
  /** Who the audit names when `--actor` does not. */
  user: string;
  /** Where networks are looked up that are named by their id. */
  networksFile: string;
  /** What fills in the `${NAME}` of a networks file. */
  environment: NodeJS.ProcessEnv;
};

/** No other file reads the environment. @throws Failure when a setting, or the stack's file, is wrong. */
export function readConfig(env: NodeJS.ProcessEnv, file: string = stackFileOf(env)): Config {
  try {
    return settings({ ...readStack(file), ...given(env) }, (read) => {
      const url = (name: string) => read.url(name, { protocols: ['http:', 'https:'], default: '' });
      return {
        urls: Object.fromEntries(services.map(([service, name]) => [service, url(name)])) as Config['urls'],
        operatorCredential: read.optionalText('OPERATOR_CREDENTIAL') ?? '',
        signingKey: read.optionalText('SIGNING_KEY') ?? '',
        sharedToken: read.optionalText('INTERNAL_TOKEN') ?? '',
        consoleUrl: url('CONSOLE_URL'),
        amqpUrl: read.parsed('AMQP_URL', { default: '' }, checkAmqpUrl),
        user: read.optionalText('USER') ?? systemUser(),
        networksFile: read.optionalText('NETWORKS_FILE') ?? shippedNetworksFile,
        environment: env,
      };
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new Failure('wrongUse', error.message);
    throw error;
  }
}

/** The stack's file as settings; none when there is no stack here, as inside a cluster. */
function readStack(file: string): Record<string, string | undefined> {
  if (!existsSync(file)) return {};
  try {
    const stack = JSON.parse(readFileSync(file, 'utf8')) as {
      gateway_url?: string;
      console_url?: string;
      services?: Record<string, { url?: string } | undefined>;
      signing_keys?: { ops?: string };
      amqp_url?: string;
    };
    const urls = services.map(([service, name]) => [name, stack.services?.[service]?.url]);
    return {
      ...(Object.fromEntries(urls) as Record<string, string | undefined>),
      API_GATEWAY_URL: stack.gateway_url,
      CONSOLE_URL: stack.console_url,
      SIGNING_KEY: stack.signing_keys?.ops,
      AMQP_URL: stack.amqp_url,
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      'wrongUse',
      `${file} cannot be read (${why}). Start the stack again, or set the addresses yourself.`,
    );
  }
}

/** Containers seldom set $USER. They may also have a uid without a name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

// An empty variable counts as unset, so it must not hide the stack's file.
const given = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''));
