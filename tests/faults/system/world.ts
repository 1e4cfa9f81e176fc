import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { localNetwork } from '@quittance/local-stack/stack/network.ts';
import { badEndpoint, type BadEndpoint } from '../../../services/chain-watcher/test/random-run/bad-endpoint.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { journeyStack, type JourneyStack } from '../../support/journey-stack.ts';
import { startPostgresPair, type PostgresPair } from '../servers/postgres-pair.ts';
import { startRabbitmqCluster, type RabbitmqCluster } from '../servers/rabbitmq-cluster.ts';
import type { Checkout } from '../upgrade/checkout.ts';
import { CONFIRMATIONS, FINAL_DEPTH, openChain, type MinedChain } from './chain.ts';

export type World = {
  stack: JourneyStack;
  directory: StackDirectory;
  chain: MinedChain;
  /** The endpoints that chain-watcher uses. */
  endpoints: readonly BadEndpoint[];
  postgres: PostgresPair;
  rabbitmq: RabbitmqCluster;
  /** An earlier version with which the services start; null if everything has the current one. */
  earlier: Checkout | null;
  /** Whether every version here knows payments with an address of their own. */
  hasOwnAddresses: boolean;
};

type Options = {
  /** Number of RabbitMQ nodes: 1 or 3. */
  brokers?: number;
  earlier?: Checkout | null;
};

const ENDPOINTS = 2;

/** Short, so that every outcome of a payment happens within a run. */
const settings = {
  PAYMENT_TTL_MIN_SECONDS: '5',
  WEBHOOK_RETRY_DELAYS_SECONDS: '1,1,2,2,3,3,5,5',
};

/**
 * The whole system with two replicas, on a PostgreSQL with a standby, a RabbitMQ and a chain that can be killed, and behind nodes that lie
 * on command.
 */
export async function openWorld(
  chance: Chance,
  onEnd: (close: () => Promise<void>) => void,
  { brokers = 1, earlier = null }: Options = {},
): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-system-'));
  onEnd(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  // If the tests run as root, PostgreSQL's own user has to pass through this folder.
  await chmod(directory, 0o711);
  const postgres = await startPostgresPair(directory, onEnd);
  const rabbitmq = await startRabbitmqCluster(brokers, directory, onEnd);
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
    ...(earlier !== null && { checkout: earlier.path }),
    settings: {
      ...settings,
      POSTGRES_URL: postgres.url,
      AMQP_URL: rabbitmq.url,
      CHAIN_RPC_URL: chain.rpcUrl,
      NETWORKS_FILE: networksFile,
    },
    prepare: async (own) => {
      made = own;
      await mkdir(own.root, { recursive: true });
    },
  });
  onEnd(() => stack.close());
  const hasOwnAddresses = earlier === null || (await knowsOwnAddresses(earlier));
  return { stack, directory: made!, chain, endpoints, postgres, rabbitmq, earlier, hasOwnAddresses };
}

/** An earlier version that does not know them takes what comes to their addresses for money on a shared wallet. */
const knowsOwnAddresses = async ({ path }: Checkout): Promise<boolean> =>
  (await readFile(join(path, 'docs', 'openapi.yaml'), 'utf8')).includes('dedicated_wallet');

async function networkOf(chain: MinedChain, endpoints: readonly BadEndpoint[]) {
  const described = await chain.describe();
  return { ...localNetwork(described), confirmations: CONFIRMATIONS, rpc_urls: endpoints.map(({ url }) => url) };
}
