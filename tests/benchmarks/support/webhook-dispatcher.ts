import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@quittance/local-stack/backends/ports.ts';
import { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import { ENCRYPTION_KEY } from './webhook-merchants.ts';

export type DispatcherProcess = { pid: number; origin: string; stop(): Promise<void> };

/** The service as it runs in production, but that every host leads to the receiver. */
export async function startDispatcherProcess(options: {
  /** Gets a folder with its log. */
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
  receiver: { port: number; authorityFile: string };
}): Promise<DispatcherProcess> {
  const directory = join(options.directory, 'webhook-dispatcher');
  await mkdir(directory, { recursive: true });
  const port = await freePort();
  const service = new ServiceProcess({
    name: 'webhook-dispatcher',
    replica: 1,
    port,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: options.databaseUrl,
      AMQP_URL: options.amqpUrl,
      INTERNAL_TOKEN: 'a token that is only used by this benchmark',
      WEBHOOK_ENCRYPTION_KEY: ENCRYPTION_KEY,
      WEBHOOK_LOCAL_RECEIVER: `127.0.0.1:${options.receiver.port}`,
      NODE_EXTRA_CA_CERTS: options.receiver.authorityFile,
    },
    logDirectory: directory,
    pidDirectory: directory,
    onChange: () => undefined,
  });
  await service.start();
  return { pid: service.pid, origin: service.url, stop: () => service.stop() };
}
