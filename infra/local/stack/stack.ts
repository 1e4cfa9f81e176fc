import { mkdir } from 'node:fs/promises';
import { relative } from 'node:path';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { startBackends, type Backends } from './backends.ts';
import { demoMerchant } from './demo-merchant.ts';
import { startEdge } from './edge.ts';
import { readOrMakeSecrets, repositoryRoot, writePrivateJson, type StackDirectory } from './directory.ts';
import { migrateAll } from './migrations.ts';
import { confirmations, localNetwork } from './network.ts';
import { portPlan, type Ports } from './ports.ts';
import { serviceEnvironment } from './service-environment.ts';
import { ServiceProcess } from './service-process.ts';
import type { StackFile } from './stack-file.ts';
import { Steps } from './steps.ts';

export type StackOptions = {
  directory: StackDirectory;
  portBase: number;
  /** Processes of each service. */
  replicas: number;
  /** What the services are told beside what the stack decides. Also names backends to use instead of own ones. */
  environment: NodeJS.ProcessEnv;
  say: (line: string) => void;
  /** Aborting it while the stack starts takes back what was started. */
  stopping?: AbortSignal;
};

export type Stack = {
  /** As written to `.local/stack.json`. */
  file: StackFile;
  backends: Backends;
  services: ServiceProcess[];
  confirmations: number;
  /** Resolves with the reason once something died that cannot be started again. */
  failed: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Brings up the whole system: backends, migrations, services, edge, the demo merchant. Whatever was started is stopped again when a step fails.
 * @throws StackError (or the backend's own sentence) that names what went wrong and what to do.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { directory, say, stopping } = options;
  for (const path of [directory.root, directory.logs, directory.pids]) await mkdir(path, { recursive: true, mode: 0o700 });
  const steps = new Steps(say, stopping);
  try {
    return await bringUp(options, steps, portPlan(options.portBase, options.replicas));
  } catch (error) {
    await steps.undo();
    throw error;
  }
}

async function bringUp(options: StackOptions, steps: Steps, ports: Ports): Promise<Stack> {
  const { directory, environment } = options;
  const secrets = await readOrMakeSecrets(directory);
  const backends = await startBackends({ directory, ports, environment, secrets, steps });
  await writePrivateJson(directory.networksFile, [localNetwork(backends.chain)]);
  await steps.take('database schemas', () => migrateAll(backends.databaseUrls));

  const edgeUrl = `http://127.0.0.1:${ports.edge}`;
  const serviceUrls = urlsOfServices(ports, options.replicas);
  const settings = {
    secrets,
    databaseUrls: backends.databaseUrls,
    amqpUrl: backends.amqpUrl,
    serviceUrls,
    edgeUrl,
    networksFile: environment['NETWORKS_FILE'] ?? directory.networksFile,
    receiverAddress: backends.receiver.address,
    caCertificateFile: backends.ca.cert,
    inherited: environment,
  };
  let changed: (what: string) => void = () => undefined;
  const services = serviceNames.flatMap((name) =>
    ports.replicas[name].map((port, position) => {
      const env = serviceEnvironment(settings, name, port);
      const place = { logDirectory: directory.logs, pidDirectory: directory.pids };
      return new ServiceProcess({ name, replica: position + 1, port, env, ...place, onChange: (what) => changed(what) });
    }),
  );
  await steps.take(`${services.length} service processes`, () => startAll(services, steps));
  const edge = await steps.take(`nginx on ${ports.edge}`, () => startEdge({ directory, ports, replicas: options.replicas }));
  steps.undoLater(() => edge.stop());

  const gatewayUrl = serviceUrls['api-gateway'];
  const merchant = await steps.take('demo merchant', () =>
    demoMerchant({ directory, gatewayUrl, internalToken: secrets.internal_token }),
  );
  await backends.receiver.trust(merchant.key_id, merchant.signing_key);

  const file: StackFile = {
    edge_url: edgeUrl,
    gateway_url: gatewayUrl,
    services: describeServices(services, serviceUrls),
    internal_token: secrets.internal_token,
    postgres_url: backends.postgresUrl,
    amqp_url: backends.amqpUrl,
    management_url: backends.managementUrl,
    chain: backends.chain,
    merchant,
    receiver: { url: backends.receiver.controlUrl, events_url: backends.receiver.eventsUrl },
    ca: backends.ca,
    logs: relative(repositoryRoot, directory.logs),
  };
  // One write after another: several services may be started again at the same moment.
  let written = writePrivateJson(directory.stackFile, file);
  await written;
  changed = (what) => {
    options.say(what);
    file.services = describeServices(services, serviceUrls);
    written = written
      .then(() => writePrivateJson(directory.stackFile, file))
      .catch((error: unknown) => options.say(`${directory.stackFile} could not be written: ${String(error)}`));
  };
  const failed = Promise.race([backends.failed, edge.exited]);
  return { file, backends, services, confirmations, failed, stop: () => steps.undo() };
}

async function startAll(services: ServiceProcess[], steps: Steps): Promise<void> {
  steps.undoLater(async () => {
    await Promise.all(services.map((service) => service.stop()));
  });
  await Promise.all(services.map((service) => service.start()));
}

/** Where a service is reached: at its only replica, or at the balancer in front of several. */
function urlsOfServices(ports: Ports, replicas: number): Record<ServiceName, string> {
  const urls = serviceNames.map((name) => {
    const port = replicas === 1 ? ports.replicas[name][0] : ports.balancers[name];
    return [name, `http://127.0.0.1:${String(port)}`];
  });
  return Object.fromEntries(urls) as Record<ServiceName, string>;
}

function describeServices(services: ServiceProcess[], urls: Record<ServiceName, string>): StackFile['services'] {
  const described = serviceNames.map((name) => {
    const replicas = services.filter((service) => service.name === name).map(({ url, pid }) => ({ url, pid }));
    return [name, { url: urls[name], replicas }];
  });
  return Object.fromEntries(described) as StackFile['services'];
}
