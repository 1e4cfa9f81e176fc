import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { ensureCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { startChain } from '@quittance/local-backends/chain.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { requirePrograms, type Program } from '@quittance/local-backends/programs.ts';
import { startReceiver, type Receiver } from '../receiver/process.ts';
import { startRabbitmq, type Rabbitmq } from '@quittance/local-backends/rabbitmq.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { brokerUsers, prepareBroker, urlOfUser, type BrokerUser } from '@quittance/messaging/broker/set-up.ts';
import { parseAmqpUrls } from '@quittance/runtime/amqp-urls.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { addressOf, prepareServiceDatabases } from '@quittance/postgres/roles/service-databases.ts';
import { ensureToken, payer } from '@quittance/local-backends/token/token.ts';
import { StackError, type Secrets, type StackDirectory } from './directory.ts';
import type { Ports } from './ports.ts';
import type { StackFile } from './stack-file.ts';
import type { Steps } from './steps.ts';

/** The backends that all services need. */
export type Backends = {
  /** Superuser, database `quittance`. */
  postgresUrl: string;
  databaseUrls: Record<ServiceName, string>;
  /** URL of an administrator. */
  amqpUrl: string;
  /** Each service as its own user, if a management API exists to create users. */
  amqpUrls: Record<ServiceName, string>;
  managementUrl: string | null;
  /** The stack's own broker, or null when AMQP_URL names another one. */
  broker: Rabbitmq | null;
  chain: StackFile['chain'];
  receiver: Receiver;
  ca: { cert: string; key: string };
  /** Resolves with the reason when a backend dies. */
  failed: Promise<string>;
};

type Options = {
  directory: StackDirectory;
  ports: Ports;
  environment: NodeJS.ProcessEnv;
  secrets: Secrets;
  withoutKeys: boolean;
  steps: Steps;
};

const database = 'quittance';

/**
 * Starts each backend that no URL in the environment names. An empty URL counts as absent, as in the services. All start at the same time,
 * because each waits for its own disk and processes.
 */
export async function startBackends(options: Options): Promise<Backends> {
  const { directory, environment } = options;
  // nginx is not started here, but everything that is missing is reported together.
  const needed: Program[] = [...(environment['AMQP_URL'] ? [] : (['rabbitmq-server'] as const)), 'nginx'];
  await requirePrograms(needed, directory.tools).catch((error: unknown) => {
    throw new StackError(reason(error));
  });
  const starting = {
    postgres: ownPostgres(options),
    broker: ownBroker(options),
    chain: ownChain(options),
    receiver: ownReceiver(options),
  };
  // Before a failure is reported, all others must have started or failed too: only a started backend can be stopped.
  await Promise.allSettled(Object.values(starting));
  const { exited: postgresExited, ...postgres } = await starting.postgres;
  const { exited: brokerExited, ...broker } = await starting.broker;
  const { exited: chainExited, chain } = await starting.chain;
  const { receiver, ca } = await starting.receiver;
  const exits = [postgresExited, brokerExited, chainExited, receiver.exited].filter((exited) => exited !== null);
  return { ...postgres, ...broker, chain, receiver, ca, failed: Promise.race(exits) };
}

async function ownPostgres({ directory, ports, environment, secrets, steps }: Options) {
  const given = environment['POSTGRES_URL'] || undefined;
  const server = await (given === undefined
    ? steps.take(`PostgreSQL on ${ports.postgres}`, async () => {
        const own = {
          directory: directory.postgres,
          port: ports.postgres,
          logFile: join(directory.logs, 'postgres.log'),
        };
        const postgres = await startPostgres(own);
        steps.undoLater(() => postgres.stop());
        return postgres;
      })
    : { url: given, exited: null });
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, secrets.database_password])) as Record<
    ServiceName,
    string
  >;
  const databaseUrls = await prepareServiceDatabases({ adminUrl: server.url, database, passwords }).catch(
    (error: unknown) => {
      throw new StackError(
        `PostgreSQL${given === undefined ? '' : ' at POSTGRES_URL'} cannot be used: ${reason(error)}`,
      );
    },
  );
  return { postgresUrl: addressOf(server.url, { database }), databaseUrls, exited: server.exited };
}

async function ownBroker({ directory, ports, environment, withoutKeys, steps }: Options) {
  const prepare = withoutKeys ? sharedUser : prepareUsers;
  const given = environment['AMQP_URL'] || undefined;
  if (given !== undefined) {
    const managementUrl = environment['AMQP_MANAGEMENT_URL'] ?? null;
    const amqpUrls = await prepare(given, managementUrl);
    return { amqpUrl: given, amqpUrls, managementUrl, broker: null, exited: null };
  }
  const { amqp, management, distribution, epmd } = ports;
  const broker = await steps.take(`RabbitMQ on ${amqp}`, async () => {
    const rabbitmq = await startRabbitmq({
      directory: directory.rabbitmq,
      toolsDirectory: directory.tools,
      ports: { amqp, management, distribution, epmd },
      logFile: join(directory.logs, 'rabbitmq.log'),
    });
    steps.undoLater(() => rabbitmq.stop());
    return rabbitmq;
  });
  const { url: amqpUrl, managementUrl, exited } = broker;
  return { amqpUrl, amqpUrls: await prepare(amqpUrl, managementUrl), managementUrl, broker, exited };
}

/**
 * Creates exchanges, queues and users. Their passwords are derived from the administrator's, so stacks that share a broker create the same
 * ones.
 */
export async function prepareUsers(
  amqpUrl: string,
  managementUrl: string | null,
): Promise<Record<ServiceName, string>> {
  const { password: secret } = new URL(parseAmqpUrls(amqpUrl)[0]);
  const passwordOf = (user: string): string => createHmac('sha256', secret).update(user).digest('hex');
  const passwords = Object.fromEntries(brokerUsers.map((user) => [user, passwordOf(user)])) as Record<
    BrokerUser,
    string
  >;
  const users = managementUrl === null ? null : { managementUrl, passwords };
  await prepareBroker(amqpUrl, users, createLogger({ service: 'stack', level: 'fatal' })).catch((error: unknown) => {
    throw new StackError(`RabbitMQ cannot be used: ${reason(error)}`);
  });
  const urlOf = (name: ServiceName): string =>
    managementUrl === null ? amqpUrl : urlOfUser(amqpUrl, name, passwords[name]);
  return Object.fromEntries(serviceNames.map((name) => [name, urlOf(name)])) as Record<ServiceName, string>;
}

const sharedUser = (amqpUrl: string) =>
  Object.fromEntries(serviceNames.map((name) => [name, amqpUrl])) as Record<ServiceName, string>;

/** With anvil's default `finalized` is 64 blocks behind, so the blocks that a kill -9 loses are an ordinary reorg. */
const slotsInAnEpoch = 32;

async function ownChain({ directory, ports, environment, steps }: Options) {
  const given = environment['CHAIN_RPC_URL'] || undefined;
  const node = await (given === undefined
    ? steps.take(`local chain on ${ports.chain}`, async () => {
        const own = { directory: directory.chain, port: ports.chain, logFile: join(directory.logs, 'chain.log') };
        const chain = await startChain({ ...own, slotsInAnEpoch });
        steps.undoLater(() => chain.stop());
        return chain;
      })
    : { rpcUrl: given, exited: null });
  const describe = async (): Promise<StackFile['chain']> => {
    const token = await ensureToken(node.rpcUrl);
    return {
      network: 'local',
      rpc_url: node.rpcUrl,
      chain_id: Number(await rpc<string>(node.rpcUrl, 'eth_chainId', [])),
      token: token.address,
      decimals: token.decimals,
      payer_address: payer.address,
      payer_private_key: payer.privateKey,
    };
  };
  const chain = await describe().catch((error: unknown) => {
    throw new StackError(`the chain${given === undefined ? '' : ' at CHAIN_RPC_URL'} cannot be used: ${reason(error)}`);
  });
  return { chain, exited: node.exited };
}

/** The merchants' endpoints on this machine: one TLS server that has a certificate for any name. */
async function ownReceiver({ directory, ports, steps }: Options) {
  const authority = await ensureCertificateAuthority(directory.certificates);
  const receiver = await steps.take(`webhook receiver on ${ports.receiver}`, async () => {
    const started = await startReceiver({
      directory: directory.receiver,
      logFile: join(directory.logs, 'receiver.log'),
      ports: { tls: ports.receiver, control: ports.receiverControl },
      authority,
    });
    steps.undoLater(() => started.stop());
    return started;
  });
  return { receiver, ca: { cert: authority.certificateFile, key: authority.keyFile } };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
