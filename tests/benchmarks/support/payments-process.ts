import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoneService, type LoneService } from '../../support/lone-service.ts';

export const NETWORK = 'local';

/** The service alone, on a migrated database. Creations and reads need no other service. */
export async function startPaymentsProcess(options: {
  /** The name of its folder in the directory, which has its log. */
  name: string;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
}): Promise<LoneService> {
  const directory = join(options.directory, options.name);
  await mkdir(directory, { recursive: true });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify([network]));
  const nowhere = 'http://127.0.0.1:1';
  const { databaseUrl, amqpUrl } = options;
  return startLoneService({
    ...{ name: 'payments', directory, databaseUrl, amqpUrl },
    env: {
      NETWORKS_FILE: networksFile,
      PUBLIC_BASE_URL: 'https://pay.example',
      QUOTA_URL: nowhere,
      WEBHOOK_DISPATCHER_URL: nowhere,
      CHAIN_WATCHER_URL: nowhere,
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
