import { mkdir } from 'node:fs/promises';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';

export const INTERNAL_TOKEN = 'a token that is only used while this runs';

export type LoneService = {
  /** Of the process that was started first. */
  pid: number;
  origin: string;
  stop(): Promise<void>;
  /** SIGKILL. Like any process that dies, it is started again. */
  kill(): Promise<void>;
};

/**
 * One service as it runs in production, without the other services, on a migrated database.
 * @param options.directory is created, and gets its log.
 * @param options.env its settings in addition to those of every service.
 * @throws StackError when it does not become ready; then it no longer runs.
 */
export async function startLoneService(options: {
  name: ServiceName;
  directory: string;
  databaseUrl: string;
  amqpUrl: string;
  env: Record<string, string>;
}): Promise<LoneService> {
  const { name, directory } = options;
  await mkdir(directory, { recursive: true });
  const port = await freePort();
  const service = new ServiceProcess({
    name,
    replica: 1,
    checkout: repositoryRoot,
    ports: { [name]: port },
    env: {
      ...processEnvironment(),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: options.databaseUrl,
      AMQP_URL: options.amqpUrl,
      INTERNAL_TOKEN,
      ...options.env,
    },
    logDirectory: directory,
    pidDirectory: directory,
    onChange: () => undefined,
  });
  try {
    await service.start();
  } catch (error) {
    // A process that never became ready still runs, and would keep this process from ending.
    await service.stop();
    throw error;
  }
  return { pid: service.pid, origin: service.url, stop: () => service.stop(), kill: () => service.kill() };
}
