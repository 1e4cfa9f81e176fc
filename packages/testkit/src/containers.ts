import { randomBytes } from 'node:crypto';
import { GenericContainer, Wait } from 'testcontainers';
import { images } from '@quittance/local-backends/container.ts';
import type { Backend } from './backend.ts';

/**
 * PostgreSQL in a container of the machine's Docker engine; without durability, because nobody needs its data later.
 */
export async function startPostgresContainer(): Promise<Backend> {
  const password = randomBytes(12).toString('hex');
  const container = await new GenericContainer(images.postgres)
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'max_connections=300'])
    .withExposedPorts(5432)
    .withTmpFs({ '/var/lib/postgresql': 'rw' })
    // It starts once to create its data and once to serve.
    .withWaitStrategy(Wait.forLogMessage('database system is ready to accept connections', 2))
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(5432)}`;
  return {
    environment: { TEST_POSTGRES_URL: `postgres://postgres:${password}@${address}/postgres` },
    stop: async () => {
      await container.stop();
    },
  };
}

/** RabbitMQ with its management API in a container of the machine's Docker engine. */
export async function startRabbitmqContainer(): Promise<Backend> {
  const password = randomBytes(12).toString('hex');
  const container = await new GenericContainer(images.rabbitmq)
    .withEnvironment({ RABBITMQ_DEFAULT_USER: 'quittance', RABBITMQ_DEFAULT_PASS: password })
    .withExposedPorts(5672, 15672)
    .withWaitStrategy(Wait.forLogMessage('Server startup complete'))
    .start();
  const address = (port: number) => `quittance:${password}@${container.getHost()}:${container.getMappedPort(port)}`;
  return {
    environment: { TEST_AMQP_URL: `amqp://${address(5672)}`, TEST_AMQP_MANAGEMENT_URL: `http://${address(15672)}` },
    stop: async () => {
      await container.stop();
    },
  };
}
