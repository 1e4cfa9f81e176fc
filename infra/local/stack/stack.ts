import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { startBackends, type Backends } from './backends.ts';
import { demoMerchant } from './demo-merchant.ts';
import { readOrMakeSecrets, repositoryRoot, writePrivateJson, type Secrets, type StackDirectory } from './directory.ts';
import { readTrustedProxies } from '../../nginx/trusted-proxies.ts';
import { startEdge } from './edge.ts';
import { migrateAll } from './migrations.ts';
import { localNetwork, tronNetwork } from './network.ts';
import { noticesAt, startNotices, wantsNotices } from './notices.ts';
import { portPlan, type Ports } from './ports.ts';
import { startRateSources } from './rate-sources.ts';
import { refuseDecidedSettings, type ServiceEnvironmentOptions } from './service-environment.ts';
import type { ServiceProcess } from './service-process.ts';
import { consoleProcess, describeServices, serviceProcesses, urlsOfServices } from './services.ts';
import { StackFileWriter, type StackFile } from './stack-file.ts';
import { Steps } from './steps.ts';
import { startTron, wantsTron } from './tron.ts';

export type StackOptions = {
  directory: StackDirectory;
  portBase: number;
  /** Number of processes of each service. */
  replicas: number;
  /** All services in one process, instead of one or several for each. */
  single?: boolean;
  /** Whether a Tron network runs next to the local chain. Once a directory had one, it always has one. */
  withTron?: boolean;
  /** The checkout whose services and migrations run. Default: this one. Another version is for upgrades. */
  checkout?: string;
  /** Set up as release 0.2.0 did: no keys, and one RabbitMQ user for all services, which declare their own queues. */
  withoutKeys?: boolean;
  /** Settings for the services in addition to those that the stack decides. May also name backends to use instead of new ones. */
  environment: NodeJS.ProcessEnv;
  say: (line: string) => void;
  /** Aborting it during the start stops what was started. */
  stopping?: AbortSignal;
};

export type Stack = {
  /** The content of `.local/stack.json`. */
  file: StackFile;
  backends: Backends;
  services: ServiceProcess[];
  /** Resolves with the reason when something that cannot be restarted has died. */
  failed: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts the whole system: backends, migrations, services, edge and the demo merchant. When a step fails, everything that was started is
 * stopped again.
 * @throws StackError (or the backend's own error) that says what went wrong and what to do.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { directory, say, stopping } = options;
  for (const path of [directory.root, directory.logs, directory.pids])
    await mkdir(path, { recursive: true, mode: 0o700 });
  const steps = new Steps(say, stopping);
  try {
    return await bringUp(options, steps, portPlan(options.portBase, options.replicas));
  } catch (error) {
    await steps.undo();
    throw error;
  }
}

async function bringUp(options: StackOptions, steps: Steps, ports: Ports): Promise<Stack> {
  const { directory, environment, replicas, checkout = repositoryRoot, withoutKeys = false } = options;
  refuseDecidedSettings(environment);
  const withTron = await wantsTron(options);
  const trustedProxies = readTrustedProxies(environment);
  const secrets = await readOrMakeSecrets(directory);
  const backends = await startBackends({ directory, ports, environment, secrets, withoutKeys, steps });
  const { chain } = backends;
  const tron = withTron ? await startTron(chain, ports.tron, steps) : null;
  if (environment['NETWORKS_FILE'] === undefined) {
    const networks = [localNetwork(chain), ...(tron === null ? [] : [tronNetwork(tron)])];
    await writePrivateJson(directory.networksFile, networks);
  }
  await steps.take('database schemas', () => migrateAll(backends.databaseUrls, checkout));

  const urls = urlsOf(ports, replicas);
  const notices = wantsNotices(environment, checkout) ? noticesAt(ports) : null;
  const file = new StackFileWriter(directory.stackFile, options.say);
  const settings = settingsOf(options, backends, secrets, { ...urls, notices }, await rateSources(ports, steps));
  const processOptions = { directory, ports, checkout, settings };
  const services = serviceProcesses({
    ...processOptions,
    single: options.single === true,
    onChange: (what) => {
      options.say(what);
      file.update({ services: describeServices(services, urls.services) });
    },
  });
  steps.undoLater(() => stopAll(services));
  await steps.take(`${services.length} service processes`, () => startAll(services));
  if (notices !== null) await startNotices({ ...processOptions, onChange: options.say }, backends, steps);
  await startConsole(processOptions, steps, options.say);
  const edge = await steps.take(`nginx on ${ports.edge}`, () =>
    startEdge({ directory, ports, replicas, trustedProxies }),
  );
  steps.undoLater(() => edge.stop());

  const gatewayUrl = urls.services['api-gateway'];
  const merchant = await steps.take('demo merchant', () => demoMerchant({ directory, gatewayUrl, ...secrets }));
  await backends.receiver.trust(merchant.key_id, merchant.signing_key);
  const contents: StackFile = {
    edge_url: urls.edge,
    gateway_url: gatewayUrl,
    console_url: urls.console,
    services: describeServices(services, urls.services),
    signing_keys: secrets.signing_keys,
    ...(secrets.internal_token !== undefined && { internal_token: secrets.internal_token }),
    postgres_url: backends.postgresUrl,
    amqp_url: backends.amqpUrl,
    amqp_urls: backends.amqpUrls,
    management_url: backends.managementUrl,
    chain,
    ...(tron !== null && { tron: { ...tron, wallet: addressFromHex('tron', merchant.wallet) } }),
    merchant,
    receiver: { url: backends.receiver.controlUrl, events_url: backends.receiver.eventsUrl },
    ca: backends.ca,
    logs: relative(repositoryRoot, directory.logs),
  };
  await file.create(contents);
  const failed = Promise.race([backends.failed, edge.exited]);
  return { file: contents, backends, services, failed, stop: () => steps.undo() };
}

const urlsOf = (ports: Ports, replicas: number) => ({
  edge: `http://127.0.0.1:${ports.edge}`,
  // Under this name browsers allow passkeys.
  console: `http://localhost:${ports.console}`,
  services: urlsOfServices(ports, replicas),
});

async function rateSources({ rates }: Ports, steps: Steps): Promise<string> {
  const sources = await startRateSources(rates);
  steps.undoLater(() => sources.stop());
  return sources.setting;
}

function settingsOf(
  { directory, environment, withoutKeys = false }: StackOptions,
  backends: Backends,
  secrets: Secrets,
  urls: ReturnType<typeof urlsOf> & Pick<ServiceEnvironmentOptions, 'notices'>,
  rateSources: string,
): ServiceEnvironmentOptions {
  return {
    secrets,
    withoutKeys,
    databaseUrls: backends.databaseUrls,
    amqpUrls: backends.amqpUrls,
    serviceUrls: urls.services,
    edgeUrl: urls.edge,
    consoleUrl: urls.console,
    notices: urls.notices,
    networksFile: environment['NETWORKS_FILE'] ?? directory.networksFile,
    receiverAddress: backends.receiver.address,
    caCertificateFile: backends.ca.cert,
    rateSources,
    inherited: environment,
  };
}

/** Another version's checkout may have no console. */
async function startConsole(
  options: Omit<Parameters<typeof consoleProcess>[0], 'onChange'>,
  steps: Steps,
  say: (line: string) => void,
): Promise<void> {
  if (!existsSync(join(options.checkout, 'services', 'console'))) return;
  const console = consoleProcess({ ...options, onChange: say });
  steps.undoLater(() => console.stop());
  await steps.take(`the operators' console on ${options.ports.console}`, () => console.start());
}

/** Reports a failure only after every other start has ended, because a process that is still starting could not be stopped. */
async function startAll(services: readonly ServiceProcess[]): Promise<void> {
  const started = await Promise.allSettled(services.map((service) => service.start()));
  for (const result of started) if (result.status === 'rejected') throw result.reason;
}

async function stopAll(services: readonly ServiceProcess[]): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
}
