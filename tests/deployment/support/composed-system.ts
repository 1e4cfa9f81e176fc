import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { freePort, freePorts } from '@quittance/local-backends/ports.ts';
import { startChain } from '@quittance/local-backends/chain.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { startRunBackends } from '@quittance/testkit/run-backends.ts';
import type { ContainerPlan } from './container.ts';
import { base, readCompose } from './compose.ts';
import { imageCommand, imageEnvironment, imageLinks } from './dockerfile.ts';
import { makeEnvironment } from './environment-file.ts';
import type { Layouts } from './layouts.ts';

export type ComposedSystem = {
  /** A service's URL as seen from the test. */
  url(service: ServiceName): string;
  /** The compose file's definition of a service, a job, or any other container that runs one of our images. */
  plan(name: string, change?: Partial<ContainerPlan>): ContainerPlan;
  stop(): Promise<void>;
};

/**
 * PostgreSQL, RabbitMQ and a chain, and the environment of each container of docker-compose.yml for them. Only ports, and the broker's
 * login and virtual host, differ from compose, because everything shares this machine's network and the test run's broker.
 */
export async function composedSystem(layouts: Layouts): Promise<ComposedSystem> {
  const { postgresUrl, brokerUrl, rpcUrl, stop } = await startBackends(layouts.directory);
  const variables = { ...makeEnvironment(), POSTGRES_PASSWORD: new URL(postgresUrl).password };
  const compose = readCompose([base], variables);
  const ports = await freePorts(serviceNames.length);
  const portOf: Record<string, string> = {
    postgres: new URL(postgresUrl).port,
    anvil: new URL(rpcUrl).port,
    ...Object.fromEntries(serviceNames.map((name, position) => [name, String(ports[position])])),
  };
  const amqpUrl = new URL(brokerUrl);
  amqpUrl.hostname = 'rabbitmq';

  const plan: ComposedSystem['plan'] = (name, change = {}) => {
    const service = compose.services[name]!;
    const image = /^quittance\/([a-z-]+):/.exec(service.image ?? '')?.[1] ?? '';
    const told = { ...imageEnvironment, PORT: portOf[name] ?? imageEnvironment['PORT']!, ...service.environment };
    const environment = Object.entries(told).map(([setting, value]) =>
      setting === 'AMQP_URL' ? [setting, amqpUrl.href] : [setting, withPort(value, portOf)],
    );
    return {
      directory: layouts.directory,
      app: layouts.app(image),
      command: service.command ?? [...(service.entrypoint ?? imageCommand)],
      environment: Object.fromEntries(environment) as Record<string, string>,
      links: imageLinks,
      hosts: Object.keys(compose.services),
      binds: (service.configs ?? []).map(({ source, target }) => ({
        source: join(repositoryRoot, compose.configs[source]!.file),
        path: target,
      })),
      ...change,
    };
  };
  return { url: (service) => `http://127.0.0.1:${portOf[service]!}`, plan, stop };
}

/** An address with the port that its host has here; other values stay unchanged. */
function withPort(value: string, portOf: Record<string, string>): string {
  const [, start = '', host = ''] = /^(\w+:\/\/(?:[^@/]*@)?([a-z-]+)):\d+/.exec(value) ?? [];
  const port = portOf[host];
  return port === undefined ? value : `${start}:${port}${value.slice(start.length).replace(/^:\d+/, '')}`;
}

/** @returns the URLs of the superuser, the broker and the chain. */
async function startBackends(directory: string) {
  // A separate server, because roles belong to the server and not to a database.
  delete process.env['TEST_POSTGRES_URL'];
  const folder = join(directory, 'chain');
  await mkdir(folder);
  const [run, chain] = await Promise.all([
    startRunBackends(),
    freePort().then((port) =>
      startChain({
        directory: folder,
        port,
        logFile: join(folder, 'chain.log'),
        persistent: false,
        blockTimeSeconds: 'on-demand',
        temporaryDirectory: folder,
      }),
    ),
  ]);
  Object.assign(process.env, run.environment);
  const broker = await testBroker();
  const stop = async () => {
    await Promise.all([chain.kill(), broker.close()]);
    await run.stop();
  };
  return { postgresUrl: run.environment['TEST_POSTGRES_URL']!, brokerUrl: broker.url, rpcUrl: chain.rpcUrl, stop };
}
