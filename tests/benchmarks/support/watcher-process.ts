import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@quittance/local-stack/backends/ports.ts';
import { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import { networksFile } from './chain-networks.ts';

export type WatcherProcess = { pid: number; stop(): Promise<void> };

/** The service alone, scanning the synthetic chain of one node. */
export async function startWatcherProcess(options: {
  /** Of its own folder in the directory, which has its log. */
  name: string;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
  nodeUrl: string;
  pollIntervalMs: number;
}): Promise<WatcherProcess> {
  const directory = join(options.directory, options.name);
  await mkdir(directory, { recursive: true });
  const networks = join(directory, 'networks.json');
  const { nodeUrl: url, pollIntervalMs } = options;
  await writeFile(networks, JSON.stringify(networksFile({ url, pollIntervalMs })));
  const port = await freePort();
  const service = new ServiceProcess({
    name: 'chain-watcher',
    replica: 1,
    port,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: options.databaseUrl,
      AMQP_URL: options.amqpUrl,
      INTERNAL_TOKEN: 'a token that is only used by this benchmark',
      NETWORKS_FILE: networks,
    },
    logDirectory: directory,
    pidDirectory: directory,
    onChange: () => undefined,
  });
  await service.start();
  return { pid: service.pid, stop: () => service.stop() };
}
