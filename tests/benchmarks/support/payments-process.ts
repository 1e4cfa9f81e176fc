import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoneService, type LoneService } from '../../support/lone-service.ts';

export const NETWORK = 'local';

/** The service alone, on a database that is up to date. Nobody is there whom it could ask; creations and reads ask nobody. */
export async function startPaymentsProcess(options: {
  /** Of its own folder in the directory, which has its log. */
  name: string;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
}): Promise<LoneService> {
  const directory = join(options.directory, options.name);
  await mkdir(directory, { recursive: true });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify([network]));
  const nobody = 'http://127.0.0.1:1';
  const { databaseUrl, amqpUrl } = options;
  return startLoneService({
    ...{ name: 'payments', directory, databaseUrl, amqpUrl },
    env: {
      NETWORKS_FILE: networksFile,
      PUBLIC_BASE_URL: 'https://pay.example',
      QUOTA_URL: nobody,
      WEBHOOK_DISPATCHER_URL: nobody,
      CHAIN_WATCHER_URL: nobody,
    },
  });
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
