import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from '@jest/globals';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { startRabbitmq, type Rabbitmq } from '@quittance/local-backends/rabbitmq.ts';

const toolsDirectory = fileURLToPath(new URL('../../../.local/tools', import.meta.url));

/**
 * A RabbitMQ for the tests of this file alone, because what they do to it affects all of its virtual hosts. `startWorld` and `testBroker`
 * use it. Call it once, at the top of the file.
 * @returns `control`: `rabbitmqctl <args>` on it.
 */
export function useOwnNode(): Pick<Rabbitmq, 'control'> {
  let node: Rabbitmq | null = null;
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quittance-rabbitmq-'));
    const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
    node = await startRabbitmq({
      directory: join(directory, 'node'),
      toolsDirectory,
      ports: { amqp, management, distribution, epmd },
      logFile: join(directory, 'rabbitmq.log'),
      temporaryDirectory: directory,
    });
    process.env['TEST_AMQP_URL'] = node.url;
    process.env['TEST_AMQP_MANAGEMENT_URL'] = node.managementUrl ?? '';
  });
  afterAll(async () => {
    await node?.kill();
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  return { control: (...args) => node!.control(...args) };
}
