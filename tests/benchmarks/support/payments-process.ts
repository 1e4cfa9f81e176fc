import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@quittance/local-stack/backends/ports.ts';
import { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';

export const INTERNAL_TOKEN = 'a token that is only used by this benchmark';
export const NETWORK = 'local';

export type PaymentsProcess = { origin: string; pid: number; stop(): Promise<void> };

/** The service alone, on a database that is up to date. Nobody is there whom it could ask; creations and reads ask nobody. */
export async function startPaymentsProcess(options: {
  /** Of its own folder in the directory, which has its log. */
  name: string;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
}): Promise<PaymentsProcess> {
  const directory = join(options.directory, options.name);
  await mkdir(directory, { recursive: true });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify([network]));
  const port = await freePort();
  const nobody = 'http://127.0.0.1:1';
  const service = new ServiceProcess({
    name: 'payments',
    replica: 1,
    port,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: options.databaseUrl,
      AMQP_URL: options.amqpUrl,
      INTERNAL_TOKEN,
      NETWORKS_FILE: networksFile,
      PUBLIC_BASE_URL: 'https://pay.example',
      QUOTA_URL: nobody,
      WEBHOOK_DISPATCHER_URL: nobody,
      CHAIN_WATCHER_URL: nobody,
    },
    logDirectory: directory,
    pidDirectory: directory,
    onChange: () => undefined,
  });
  await service.start();
  return { origin: service.url, pid: service.pid, stop: () => service.stop() };
}

const network = {
  id: NETWORK,
  family: 'evm',
  chain_id: 31_337,
  rpc_urls: ['http://127.0.0.1:1'],
  usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  decimals: 6,
  confirmations: 2,
  finality: 'confirmations',
  poll_interval_ms: 100,
  explorer_transaction_url: null,
};
