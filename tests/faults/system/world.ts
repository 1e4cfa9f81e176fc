import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, freePorts } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { startRabbitmq, type Rabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { repositoryRoot, type StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { localNetwork } from '@quittance/local-stack/stack/network.ts';
import { badEndpoint, type BadEndpoint } from '../../../services/chain-watcher/test/random-run/bad-endpoint.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { journeyStack, type JourneyStack } from '../../support/journey-stack.ts';
import { CONFIRMATIONS, FINAL_DEPTH, openChain, type MinedChain } from './chain.ts';

/** Kills it, and starts it again on its data. */
type Restartable = { kill(): Promise<void>; start(): Promise<void> };

export type World = {
  stack: JourneyStack;
  directory: StackDirectory;
  chain: MinedChain;
  /** What chain-watcher reads the chain by. */
  endpoints: readonly BadEndpoint[];
  postgres: Restartable;
  rabbitmq: Restartable & { current(): Rabbitmq };
};

const ENDPOINTS = 2;

/** Short, so that everything a payment can come to happens within a run. */
const settings = {
  PAYMENT_TTL_MIN_SECONDS: '5',
  WEBHOOK_RETRY_DELAYS_SECONDS: '1,1,2,2,3,3,5,5',
};

/** The whole system with two replicas, on a PostgreSQL, a RabbitMQ and a chain that can be killed, and behind nodes that lie when told to. */
export async function openWorld(chance: Chance, onEnd: (close: () => Promise<void>) => void): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-system-'));
  onEnd(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  // PostgreSQL's own user, when we are root, has to pass through.
  await chmod(directory, 0o711);
  const postgres = await restartable(
    {
      directory: join(directory, 'postgres'),
      port: await freePort(),
      logFile: join(directory, 'postgres.log'),
    },
    startPostgres,
    onEnd,
  );
  const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
  const rabbitmq = await restartable(
    {
      directory: join(directory, 'rabbitmq'),
      toolsDirectory: join(repositoryRoot, '.local', 'tools'),
      ports: { amqp, management, distribution, epmd },
      logFile: join(directory, 'rabbitmq.log'),
    },
    startRabbitmq,
    onEnd,
  );
  const chain = await openChain({ directory: join(directory, 'chain'), logFile: join(directory, 'chain.log'), onEnd });
  const endpoints: BadEndpoint[] = [];
  for (let number = 0; number < ENDPOINTS; number += 1) {
    const { rpcUrl, token, history } = chain;
    const seen = { rpcUrl, token, chronicle: history, finalDepth: FINAL_DEPTH, chance: chance.apart(String(number)) };
    const endpoint = await badEndpoint(seen);
    onEnd(() => endpoint.close());
    endpoints.push(endpoint);
  }
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify([await networkOf(chain, endpoints)]));
  let made: StackDirectory | null = null;
  const stack = await journeyStack({
    replicas: 2,
    settings: {
      ...settings,
      POSTGRES_URL: postgres.current().url,
      AMQP_URL: rabbitmq.current().url,
      CHAIN_RPC_URL: chain.rpcUrl,
      NETWORKS_FILE: networksFile,
    },
    prepare: async (own) => {
      made = own;
      await mkdir(own.root, { recursive: true });
    },
  });
  onEnd(() => stack.close());
  return { stack, directory: made!, chain, endpoints, postgres, rabbitmq };
}

async function networkOf(chain: MinedChain, endpoints: readonly BadEndpoint[]) {
  const described = await chain.describe();
  return { ...localNetwork(described), confirmations: CONFIRMATIONS, rpc_urls: endpoints.map(({ url }) => url) };
}

async function restartable<Options, One extends { kill(): Promise<void>; stop(): Promise<void> }>(
  options: Options,
  begin: (options: Options) => Promise<One>,
  onEnd: (close: () => Promise<void>) => void,
): Promise<Restartable & { current(): One }> {
  let running = await begin(options);
  onEnd(() => running.kill());
  return {
    current: () => running,
    kill: () => running.kill(),
    async start() {
      running = await begin(options);
    },
  };
}
