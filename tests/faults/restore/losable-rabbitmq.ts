import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startRabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

/** A broker without any backup. */
export type LosableRabbitmq = {
  /** The same after it came back empty. */
  url: string;
  lose(): Promise<void>;
  startEmpty(): Promise<void>;
  kill(): Promise<void>;
};

export async function startLosableRabbitmq(directory: string): Promise<LosableRabbitmq> {
  const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
  const start = () =>
    startRabbitmq({
      directory,
      toolsDirectory: join(repositoryRoot, '.local', 'tools'),
      ports: { amqp, management, distribution, epmd },
      logFile: join(directory, '..', 'rabbitmq.log'),
    });
  let broker = await start();
  return {
    url: broker.url,
    async lose() {
      await broker.kill();
      // The user's password is outside the data, as in a secret store.
      await rm(join(directory, 'data'), { recursive: true });
    },
    async startEmpty() {
      broker = await start();
    },
    kill: () => broker.kill(),
  };
}
