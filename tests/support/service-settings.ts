import { join } from 'node:path';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { readFrameConfig } from '@quittance/runtime/service-settings.ts';
import { ConfigurationError } from '@quittance/runtime/settings.ts';
import { readConfig as readGatewayConfig } from '../../services/api-gateway/src/config.ts';
import { readConfig as readWatcherConfig } from '../../services/chain-watcher/src/config.ts';
import { readConfig as readPaymentsConfig } from '../../services/payments/src/config.ts';
import { readConfig as readQuotaConfig } from '../../services/quota/src/config.ts';
import { readConfig as readDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';

/** Every required setting, and settings that make the configuration read another one. */
export const samples: Record<string, string> = {
  PORT: '8081',
  DATABASE_URL: 'postgres://127.0.0.1/quittance',
  AMQP_URL: 'amqp://127.0.0.1/',
  INTERNAL_TOKEN: 'an internal token of at least 32 characters',
  NETWORKS_FILE: join(repositoryRoot, 'infra', 'networks.json'),
  PUBLIC_BASE_URL: 'https://pay.example',
  PAYMENTS_URL: 'http://payments',
  QUOTA_URL: 'http://quota',
  CHAIN_WATCHER_URL: 'http://chain-watcher',
  WEBHOOK_DISPATCHER_URL: 'http://webhook-dispatcher',
  WEBHOOK_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  WALLET_POOL_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  WEBHOOK_LOCAL_RECEIVER: '127.0.0.1:8443',
  FAULT_POINT: 'a-place',
};

const readers: Record<ServiceName, (env: NodeJS.ProcessEnv) => unknown> = {
  'api-gateway': readGatewayConfig,
  payments: readPaymentsConfig,
  'chain-watcher': readWatcherConfig,
  'webhook-dispatcher': readDispatcherConfig,
  quota: readQuotaConfig,
};

/** A service's settings in an environment: the shared ones and its own. @throws ConfigurationError. */
export const readSettings = (service: ServiceName, env: NodeJS.ProcessEnv) => ({
  frame: readFrameConfig(env),
  service: readers[service](env),
});

/** The settings that the process reads, and those without which it does not start; sorted. */
export function settingsOf(service: ServiceName): { known: string[]; required: string[] } {
  const asked = new Set<string>();
  readSettings(
    service,
    new Proxy(samples, {
      get: (env, name: string) => {
        asked.add(name);
        return env[name];
      },
    }),
  );
  return { known: [...asked].sort(), required: missingIn(() => readSettings(service, {})) };
}

function missingIn(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const missing = error.problems.map((problem) => /^([A-Z_]+): is required$/.exec(problem)?.[1] ?? problem);
    return [...new Set(missing)].sort();
  }
  return [];
}
