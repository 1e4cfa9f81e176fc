import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild } from './child.ts';
import { startContainer } from './container.ts';
import { nginxContainer, nginxProgram } from './nginx-program.ts';
import { endOrphan } from './orphans.ts';
import { requireFreePort } from './ports.ts';
import { sourceOf } from './programs.ts';
import type { Backend, Child } from './child.ts';
import type { NginxProgram } from './nginx-program.ts';

export type Nginx = Backend & {
  /**
   * Loads another configuration without dropping a connection. @throws Error when nginx refuses it; the old one stays.
   */
  reload(configuration: string): Promise<void>;
};

export type NginxOptions = {
  /**
   * The directory of this nginx's configuration, pid and temporary files. The configuration must use it (see
   * infra/nginx/render.ts).
   */
  directory: string;
  toolsDirectory: string;
  logFile: string;
  /** The whole nginx.conf. */
  configuration: string;
  /** The ports that the configuration listens on, to report clearly when one is in use. */
  ports: number[];
};

/**
 * A private nginx: the machine's program, else Debian's package unpacked below `toolsDirectory`, else a container on
 * this machine's network.
 * @throws Error naming a port in use, a missing program, or nginx's own error about the configuration.
 */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { directory, ports } = options;
  const { toolsDirectory } = options;
  const program = await nginxProgram((await sourceOf('nginx', toolsDirectory)) ?? 'packages', toolsDirectory);
  const configurationFile = join(directory, 'nginx.conf');
  const pidFile = join(directory, 'nginx.pid');
  const args = ['-p', directory, '-c', configurationFile, '-e', 'stderr'];
  await mkdir(join(directory, 'temp'), { recursive: true });
  await endOrphan(pidFile, directory, 'SIGQUIT');
  for (const port of ports) await requireFreePort(port, 'nginx');
  const use = async (configuration: string) => {
    await writeFile(`${configurationFile}.next`, configuration);
    await check(program, directory, `${configurationFile}.next`);
    await writeFile(configurationFile, configuration);
  };

  await use(options.configuration);
  await rm(pidFile, { force: true });
  const child = await startProgram(program, args, options);
  const refusal = await Promise.race([child.exited, written(pidFile)]);
  if (refusal !== null) {
    await child.stop();
    throw new Error(`${refusal} before it was ready:\n${child.lastWords()}`);
  }
  const reload = async (configuration: string) => {
    await use(configuration);
    process.kill(child.pid, 'SIGHUP');
  };
  return { pid: child.pid, exited: child.exited, stop: child.stop, kill: child.kill, reload };
}

/** The user of the workers when nginx runs as root; undefined for other users, whose workers run as themselves. */
export function nginxUser(): { name: string; group: string } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return { name: 'nobody', group: execFileSync('id', ['-gn', 'nobody'], { encoding: 'utf8' }).trim() };
}

function startProgram(program: NginxProgram, args: string[], { directory, logFile }: NginxOptions): Promise<Child> {
  const own = { name: 'nginx', logFile, stopSignal: 'SIGQUIT', graceMs: 6000 } as const;
  if ('command' in program) return startChild({ ...own, ...program, args, cwd: directory });
  const { image } = program;
  const command = ['nginx', ...args];
  return startContainer({ ...own, directory, image, command, options: nginxContainer(directory) });
}

/** The configuration may log to /dev/stderr. nginx can't open that while it is a pipe of Node, so here it is a file. */
async function check(program: NginxProgram, directory: string, configurationFile: string): Promise<void> {
  const complaintFile = `${configurationFile}.complaint`;
  const stderr = openSync(complaintFile, 'w', 0o600);
  const words = ['-p', directory, '-c', configurationFile, '-e', 'stderr', '-t', '-q'];
  const { command, args, env } =
    'command' in program
      ? { ...program, args: words }
      : {
          command: 'docker',
          args: ['run', '--rm', ...nginxContainer(directory), program.image, 'nginx', ...words],
          env: process.env,
        };
  try {
    const child = spawn(command, args, { env, cwd: '/', stdio: ['ignore', 'ignore', stderr] });
    const [code] = (await once(child, 'close')) as [number | null];
    const complaint = readFileSync(complaintFile, 'utf8').trim();
    if (code !== 0) throw new Error(`nginx refuses its configuration: ${complaint || `exit code ${code}`}`);
  } finally {
    closeSync(stderr);
    await rm(complaintFile, { force: true });
  }
}

/** nginx writes the pid file when it listens on all ports. */
async function written(pidFile: string): Promise<null | string> {
  const deadline = Date.now() + 15_000;
  while (Date.now() < deadline) {
    if (existsSync(pidFile)) return null;
    await delay(20);
  }
  return 'nginx did not come up within 15 seconds and was stopped';
}
