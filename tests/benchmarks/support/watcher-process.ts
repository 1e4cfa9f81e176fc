import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoneService, type LoneService } from '../../support/lone-service.ts';
import { networksFile, type Receipts } from './chain-networks.ts';

/** The service alone, scanning the synthetic chain of one node. */
export async function startWatcherProcess(options: {
  /** The name of its folder in the directory, which has its log. */
  name: string;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
  nodeUrl: string;
  receipts: Receipts;
  pollIntervalMs: number;
}): Promise<LoneService> {
  const directory = join(options.directory, options.name);
  await mkdir(directory, { recursive: true });
  const networks = join(directory, 'networks.json');
  const { nodeUrl: url, receipts, pollIntervalMs } = options;
  await writeFile(networks, JSON.stringify(networksFile({ url, receipts, pollIntervalMs })));
  const { databaseUrl, amqpUrl } = options;
  return startLoneService({
    ...{ name: 'chain-watcher', directory, databaseUrl, amqpUrl },
    env: {
      NETWORKS_FILE: networks,
    },
  });
}
