import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoneService, type LoneService } from '../../support/lone-service.ts';
import { networksFile } from './chain-networks.ts';

/** The service alone, scanning the synthetic chain of one node. */
export async function startWatcherProcess(options: {
  /** The name of its folder in the directory, which has its log. */
  name: string;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
  nodeUrl: string;
  pollIntervalMs: number;
}): Promise<LoneService> {
  const directory = join(options.directory, options.name);
  await mkdir(directory, { recursive: true });
  const networks = join(directory, 'networks.json');
  const { nodeUrl: url, pollIntervalMs } = options;
  await writeFile(networks, JSON.stringify(networksFile({ url, pollIntervalMs })));
  const { databaseUrl, amqpUrl } = options;
  return startLoneService({
    ...{ name: 'chain-watcher', directory, databaseUrl, amqpUrl },
    env: {
      NETWORKS_FILE: networks,
    },
  });
}
