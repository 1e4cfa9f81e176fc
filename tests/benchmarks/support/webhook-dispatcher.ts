import { join } from 'node:path';
import { startLoneService, type LoneService } from '../../support/lone-service.ts';
import { ENCRYPTION_KEY } from './webhook-merchants.ts';

/** The service as in production, except that every host leads to the receiver. */
export async function startDispatcherProcess(options: {
  /** Gets a folder with its log. */
  directory: string;
  /** The folder's name, another one for each process. */
  folder?: string;
  databaseUrl: string;
  amqpUrl: string;
  receiver: { port: number; authorityFile: string };
}): Promise<LoneService> {
  const directory = join(options.directory, options.folder ?? 'webhook-dispatcher');
  const { databaseUrl, amqpUrl } = options;
  return startLoneService({
    ...{ name: 'webhook-dispatcher', directory, databaseUrl, amqpUrl },
    env: {
      WEBHOOK_ENCRYPTION_KEY: ENCRYPTION_KEY,
      WEBHOOK_LOCAL_RECEIVER: `127.0.0.1:${options.receiver.port}`,
      NODE_EXTRA_CA_CERTS: options.receiver.authorityFile,
    },
  });
}
