import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Containment } from './containment.ts';

/** What runs, from which tree, and with which settings. */
export type ContainerPlan = {
  /** A folder of the test for the container's files. */
  directory: string;
  /** The laid-out tree, mounted at /app. */
  app: string;
  command: readonly string[];
  environment: Record<string, string>;
  /** Links that the Dockerfile creates, from path to target. */
  links?: ReadonlyMap<string, string>;
  /** Host names for this machine. */
  hosts?: readonly string[];
  binds?: { source: string; path: string; writable?: boolean }[];
};

export type Container = {
  /** Process id, outside the container, of the command that is process 1 inside. */
  pid(): Promise<number>;
  /** Exit code, or the name of the signal. */
  ended: Promise<number | string>;
  /** What it has written so far, to stdout and stderr. */
  log(): string;
  signal(name: NodeJS.Signals): Promise<void>;
  /** Kills it. */
  kill(): Promise<void>;
};

const script = fileURLToPath(new URL('container.sh', import.meta.url));
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Starts it in isolation (see container.sh). Without `containment`, only its tree and its environment are those of a container. */
export async function startContainer(plan: ContainerPlan, containment: Containment | null): Promise<Container> {
  const { child, isInside } = containment === null ? startBare(plan) : await startInside(plan, containment);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  const ended = once(child, 'close').then(([code, name]) => (code ?? name) as number | string);
  const pid = async (): Promise<number> => (isInside ? eventually(() => onlyChild(child.pid!)) : child.pid!);
  return {
    pid,
    ended,
    log: () => chunks.join(''),
    signal: async (name) => void process.kill(await pid(), name),
    kill: async () => {
      // Kills the process that made the namespace; everything in it dies too.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs it to its end. @throws Error with its output, unless its exit code is 0. */
export async function runContainer(plan: ContainerPlan, containment: Containment | null): Promise<string> {
  const container = await startContainer(plan, containment);
  const code = await container.ended;
  if (code !== 0) throw new Error(`${plan.command.join(' ')} ended with ${code}:\n${container.log()}`);
  return container.log();
}

type Started = { child: ChildProcess; isInside: boolean };

async function startInside(plan: ContainerPlan, { enter, identity }: Containment): Promise<Started> {
  const folder = await mkdtemp(join(plan.directory, 'container-'));
  await mkdir(join(folder, 'root'));
  const hosts = ['localhost', ...(plan.hosts ?? [])].map((name) => `127.0.0.1 ${name}\n`);
  await symlink(plan.app, join(folder, 'app'));
  await symlink(process.execPath, join(folder, 'node'));
  await writeFile(join(folder, 'hosts'), hosts.join(''));
  await writeFile(join(folder, 'identity'), identity);
  await writeFile(
    join(folder, 'links'),
    [...(plan.links ?? [])].map(([from, target]) => `${from} ${target}\n`).join(''),
  );
  await writeFile(
    join(folder, 'binds'),
    (plan.binds ?? []).map((bind) => `${bind.source} ${bind.path} ${bind.writable ? 'rw' : 'ro'}\n`).join(''),
  );
  const environment = Object.entries({ PATH: path, ...plan.environment }).map(([name, value]) => `${name}=${value}`);
  const [command = '', ...words] = [...enter, 'sh', script, folder, ...environment, ...plan.command];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } });
  void once(child, 'close').then(() => rm(folder, { recursive: true, force: true }));
  return { child, isInside: true };
}

function startBare({ app, command: [program = '', ...words], environment }: ContainerPlan): Started {
  const env = { PATH: path, ...environment };
  const file = program === 'node' ? process.execPath : program;
  return { child: spawn(file, words, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] }), isInside: false };
}

/** `unshare` stays outside as the parent of process 1. */
async function onlyChild(parent: number): Promise<number> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
  const [child] = children.split(' ').filter(Boolean);
  if (child === undefined) throw new Error(`process ${parent} has no child`);
  return Number(child);
}
