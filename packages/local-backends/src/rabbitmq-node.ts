import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { dirname, join } from 'node:path';
import { rabbitmqPrograms } from './rabbitmq-programs.ts';
import type { Backend } from './child.ts';
import type { RabbitmqPrograms } from './rabbitmq-programs.ts';

export type RabbitmqPorts = { amqp: number; management: number; distribution: number; epmd: number };

export type Rabbitmq = Backend & {
  /** amqp://user:password@127.0.0.1:port, virtual host `/`. */
  url: string;
  /** http://user:password@127.0.0.1:port of the management API; null without the plugin. */
  managementUrl: string | null;
  /** Stops the broker but not its Erlang VM, so that clients are refused; for tests of outages. */
  stopApp(): Promise<void>;
  startApp(): Promise<void>;
  /** `rabbitmqctl <args>` on this node. */
  control(...args: string[]): Promise<string>;
};

/**
 * Another node of the same cluster, and the port on 127.0.0.1 at which this node reaches it: its own port, or that of a
 * proxy in between.
 */
export type RabbitmqPeer = { directory: string; port: number };

export type RabbitmqOptions = {
  /** All files of this node: data, logs, cookie, configuration. */
  directory: string;
  /** The directory of unpacked programs, shared between nodes. */
  toolsDirectory: string;
  ports: RabbitmqPorts;
  logFile: string;
  /** The other nodes of its cluster, which share its cookie and password (`shareSecrets`). None for a single node. */
  peers?: readonly RabbitmqPeer[];
  /** Removed when this process dies without stopping the node. */
  temporaryDirectory?: string;
};

/** A node's files, and everything that is needed to start it or to connect to it. */
export type RabbitmqNode = {
  programs: RabbitmqPrograms;
  env: NodeJS.ProcessEnv;
  url: string;
  managementUrl: string | null;
  pidFiles: { server: string; epmd: string };
};

/** Writes the node's configuration again (ports may have changed) and keeps its cookie, user and data. */
export async function prepareNode(options: {
  directory: string;
  toolsDirectory: string;
  ports: RabbitmqPorts;
  peers?: readonly RabbitmqPeer[];
}): Promise<RabbitmqNode> {
  const { directory, ports } = options;
  const programs = await rabbitmqPrograms(options.toolsDirectory);
  await mkdir(join(directory, 'data'), { recursive: true });
  await secretFile(join(directory, '.erlang.cookie'));
  const password = await secretFile(join(directory, 'password'));
  const management = hasManagement(programs);
  await writeFile(join(directory, 'enabled_plugins'), management ? '[rabbitmq_management].\n' : '[].\n');
  await writeFile(join(directory, 'empty.conf'), '');
  await rm(join(directory, 'rabbitmq.conf'), { force: true });
  await writeFile(join(directory, 'rabbitmq.conf'), configuration(ports, password, management, clusterOf(options)), {
    mode: 0o600,
  });

  const credentials = `${user}:${password}@127.0.0.1`;
  return {
    programs,
    env: { ...environment(directory, ports), ...programs.env },
    url: `amqp://${credentials}:${ports.amqp}`,
    managementUrl: management ? `http://${credentials}:${ports.management}` : null,
    pidFiles: { server: join(directory, 'server.pid'), epmd: join(directory, 'epmd.pid') },
  };
}

export const user = 'quittance';

/** The name of the node in this directory, as other nodes use it. */
export const nodeName = (directory: string): string =>
  `quittance-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}@localhost`;

/**
 * Called before any of them starts: nodes of a cluster authenticate with a shared cookie, and the first node's user is
 * used on all.
 */
export async function shareSecrets(directories: readonly string[]): Promise<void> {
  const [first, ...others] = directories as [string, ...string[]];
  for (const name of ['.erlang.cookie', 'password']) {
    await mkdir(first, { recursive: true });
    const secret = await secretFile(join(first, name));
    for (const directory of others) {
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, name), secret, { mode: 0o400, flag: 'wx' });
    }
  }
}

/** As in the manifests for Kubernetes: nodes in a minority pause instead of continuing alone. */
function clusterOf({ directory, peers = [] }: { directory: string; peers?: readonly RabbitmqPeer[] }): string[] {
  if (peers.length === 0) return [];
  const names = [directory, ...peers.map((peer) => peer.directory)].map(nodeName).sort();
  return [
    'cluster_partition_handling = pause_minority',
    'cluster_formation.peer_discovery_backend = classic_config',
    ...names.map((name, position) => `cluster_formation.classic_config.nodes.${position + 1} = ${name}`),
  ];
}

function configuration(ports: RabbitmqPorts, password: string, management: boolean, more: string[]): string {
  const lines = [
    `listeners.tcp.local = 127.0.0.1:${ports.amqp}`,
    // The user is created with the data; later starts find it there.
    `default_user = ${user}`,
    `default_pass = ${password}`,
    'log.console = true',
    'log.console.level = info',
    'log.file = false',
    ...more,
  ];
  if (management) lines.push('management.tcp.ip = 127.0.0.1', `management.tcp.port = ${ports.management}`);
  return `${lines.join('\n')}\n`;
}

/**
 * The machine's own RabbitMQ settings must not affect this node, and its name must not conflict with another node's.
 */
function environment(directory: string, ports: RabbitmqPorts): NodeJS.ProcessEnv {
  const loopbackOnly = '-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}';
  return {
    HOME: directory,
    LANG: 'C.UTF-8',
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_CRASH_DUMP: join(directory, 'erl_crash.dump'),
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_NODENAME: nodeName(directory),
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: loopbackOnly,
    RABBITMQ_CTL_ERL_ARGS: loopbackOnly,
    RABBITMQ_CONF_ENV_FILE: join(directory, 'empty.conf'),
    RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
    RABBITMQ_CONFIG_FILES: join(directory, 'no-conf.d'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(directory, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(directory, 'generated'),
    RABBITMQ_MNESIA_BASE: join(directory, 'data'),
    RABBITMQ_LOG_BASE: join(directory, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_PID_FILE: join(directory, 'broker.pid'),
  };
}

/** The plugin is part of every known distribution, but a packager may leave it out. */
function hasManagement({ server }: RabbitmqPrograms): boolean {
  const plugins = join(dirname(dirname(realpathSync(server))), 'plugins');
  return readdirSync(plugins).some((name) => name.startsWith('rabbitmq_management-'));
}

/** Created once and kept. Only its owner can read it. */
export async function secretFile(file: string): Promise<string> {
  const stored = await readFile(file, 'utf8').catch(() => '');
  if (stored) return stored;
  const secret = randomBytes(24).toString('hex');
  await writeFile(file, secret, { mode: 0o400 });
  return secret;
}

/**
 * Whether the management API answers 200. Without keep-alive, because an open connection would delay the plugin's stop
 * by five seconds.
 */
export function managementAnswers(managementUrl: string, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(`${managementUrl}${path}`, { agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false)).on('timeout', () => request.destroy());
  });
}
