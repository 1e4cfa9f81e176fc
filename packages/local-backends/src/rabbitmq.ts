import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inTurn, startChild } from './child.ts';
import { endOrphan, writePidFile } from './orphans.ts';
import { requireFreePort } from './ports.ts';
import { sourceOf } from './programs.ts';
import { startRabbitmqContainer } from './rabbitmq-container.ts';
import { registerNames } from './epmd.ts';
import { managementAnswers, nodeName, prepareNode } from './rabbitmq-node.ts';
import type { Child } from './child.ts';
import type { Rabbitmq, RabbitmqNode, RabbitmqOptions } from './rabbitmq-node.ts';

export type { Rabbitmq, RabbitmqOptions } from './rabbitmq-node.ts';

/**
 * A private RabbitMQ node that shares nothing with any other on the machine: it has its own name, ports, cookie, data
 * and port mapper (epmd), all on 127.0.0.1. Data survives a kill -9; the user and password are created once and kept.
 * If the machine has neither RabbitMQ nor packages for it, the node is a container.
 * @throws Error naming a port in use, a missing program, or the broker's own error.
 */
export async function startRabbitmq(options: RabbitmqOptions): Promise<Rabbitmq> {
  const source = await sourceOf('rabbitmq-server', options.toolsDirectory);
  if (source === 'engine' && options.peers !== undefined)
    throw new Error('There is no cluster of RabbitMQ in containers here: install rabbitmq-server.');
  return source === 'engine' ? startRabbitmqContainer(options) : startNode(options);
}

async function startNode(options: RabbitmqOptions): Promise<Rabbitmq> {
  const { directory, ports } = options;
  const node = await prepareNode(options);
  await endOrphan(node.pidFiles.server, directory);
  await endOrphan(node.pidFiles.epmd, `-port ${ports.epmd} `);
  for (const [purpose, port] of Object.entries(ports)) await requireFreePort(port, `RabbitMQ (${purpose})`);

  const epmd = await startEpmd(options, node);
  await registerNames(
    ports.epmd,
    (options.peers ?? []).map((peer) => ({ name: nodeName(peer.directory), port: peer.port })),
  );
  const server = await startServer(options, node);
  void server.exited.then(() => epmd.kill());
  const refusal = await Promise.race([server.exited, untilReady(ports.amqp, node.managementUrl)]);
  if (refusal !== null) {
    await server.stop();
    throw new Error(
      `${refusal} before it was ready on ${directory}:\n${server.lastWords()}\n\`npm run reset\` forgets all local data.`,
    );
  }
  return {
    url: node.url,
    managementUrl: node.managementUrl,
    pid: server.pid,
    exited: server.exited,
    stop: () => inTurn(server.stop, epmd.stop),
    kill: () => inTurn(server.kill, epmd.kill),
    control: (...args) => control(node, args),
    stopApp: async () => {
      await control(node, ['stop_app']);
    },
    startApp: async () => {
      await control(node, ['start_app']);
    },
  };
}

/**
 * Erlang would start a port mapper by itself, as a daemon that outlives the node. Ours runs before that and is our
 * child.
 */
async function startEpmd(options: RabbitmqOptions, node: RabbitmqNode): Promise<Child> {
  const args = ['-port', String(options.ports.epmd), '-address', '127.0.0.1'];
  const epmd = await startChild({ ...childDefaults(options, node), name: 'epmd', command: node.programs.epmd, args });
  await writePidFile(node.pidFiles.epmd, epmd.pid);
  while (epmd.running() && !(await accepts(options.ports.epmd))) await delay(10);
  return epmd;
}

async function startServer(options: RabbitmqOptions, node: RabbitmqNode): Promise<Child> {
  const server = await startChild({
    ...childDefaults(options, node),
    name: 'RabbitMQ',
    command: node.programs.server,
    // Erlang ignores the second flag. It marks the process as using this directory.
    args: ['-noinput', '-quittance_directory', options.directory],
    // Data is safe as soon as the broker confirms it, and this release's management plugin delays a clean end by five
    // seconds.
    graceMs: 2000,
  });
  await writePidFile(node.pidFiles.server, server.pid);
  return server;
}

function childDefaults({ logFile, directory, temporaryDirectory }: RabbitmqOptions, { env }: RabbitmqNode) {
  return { logFile, env, cwd: directory, ...(temporaryDirectory ? { temporaryDirectory } : {}) };
}

/** Plugins usually start before the broker listens, but this is not guaranteed, so both are checked. */
async function untilReady(amqpPort: number, managementUrl: string | null): Promise<null | string> {
  const deadline = Date.now() + 90_000;
  while (Date.now() < deadline) {
    if (
      (await accepts(amqpPort)) &&
      (managementUrl === null || (await managementAnswers(managementUrl, '/api/whoami')))
    )
      return null;
    await delay(50);
  }
  return 'RabbitMQ did not listen within 90 seconds and was stopped';
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function control({ programs, env }: RabbitmqNode, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(programs.control, args, { env, cwd: '/', timeout: 60_000 });
  return stdout;
}
