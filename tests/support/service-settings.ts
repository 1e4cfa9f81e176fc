import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { readFrameConfig } from '@quittance/runtime/service-settings.ts';
import { ConfigurationError } from '@quittance/runtime/settings.ts';
import { readConfig as readGatewayConfig } from '../../services/api-gateway/src/config.ts';
import { readConfig as readNotifierConfig } from '../../packages/notifier/src/config.ts';
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
export const settingsOf = (service: ServiceName) => askedFor((env) => readSettings(service, env), samples);

/** The same for the optional notifier, with every channel set up. */
export const notifierSettings = () =>
  withHooksFiles((files) =>
    askedFor(readNotifierSettings, {
      ...{ ...samples, ...files },
      NOTICES_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
      ...{ SMTP_URL: 'smtp://127.0.0.1', NOTICES_FROM: 'notices@pay.example' },
    }),
  );

/** The settings of a certificate and a key, for files that exist while `use` runs. */
export function withHooksFiles<T>(use: (files: Record<string, string>) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-hooks-'));
  const keyFile = join(directory, 'key.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  try {
    return use({ HOOKS_CERTIFICATE_FILE: anyCertificate, HOOKS_KEY_FILE: keyFile });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const anyCertificate = join(repositoryRoot, 'k8s', 'components', 'private-webhook-targets', 'ca.pem');

export const readNotifierSettings = (env: NodeJS.ProcessEnv) => ({
  frame: readFrameConfig(env),
  service: readNotifierConfig(env),
});

function askedFor(read: (env: NodeJS.ProcessEnv) => unknown, given: Record<string, string>) {
  const asked = new Set<string>();
  read(new Proxy(given, { get: (env, name: string) => (asked.add(name), env[name]) }));
  return { known: [...asked].sort(), required: missingIn(() => read({})) };
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
