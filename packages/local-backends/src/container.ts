import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { complaintOf, inTurn, startChild, type Child, type ChildOptions } from './child.ts';

const docker = (...words: string[]) => promisify(execFile)('docker', words, { cwd: '/' });

/** The images of containers: those of docker-compose.yml, without their digests. A test compares them. */
export const images = {
  postgres: 'postgres:18.6-trixie',
  rabbitmq: 'rabbitmq:4.3.5-management-alpine',
  nginx: 'nginx:1.30.4-alpine-slim',
};

export type ContainerOptions = Pick<
  ChildOptions,
  'name' | 'logFile' | 'stopSignal' | 'graceMs' | 'temporaryDirectory'
> & {
  /**
   * The directory of the container's data. The container is named after it, so that the next start finds a container
   * that an earlier one left.
   */
  directory: string;
  image: string;
  /** Options of `docker run`, before the image. */
  options: string[];
  /** Replaces the image's own command. */
  command?: string[];
};

/** Whether Docker is installed and its engine runs. */
export async function engineAnswers(): Promise<boolean> {
  const asked = promisify(execFile)('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 });
  return asked.then(
    () => true,
    () => false,
  );
}

/**
 * A container that behaves like a child process: the client in the foreground forwards signals to it, and a container
 * that is left when the client has ended is removed.
 * @throws Error with the engine's message when the image doesn't exist.
 */
export async function startContainer(options: ContainerOptions): Promise<Child> {
  const { directory, image, command = [], options: own, ...child } = options;
  const name = containerName(directory);
  await haveImage(image);
  await remove(name);
  const args = ['run', '--rm', '--name', name, ...own, image, ...command];
  const client = await startChild({ ...child, command: 'docker', args });
  return {
    ...client,
    stop: () => inTurn(client.stop, () => remove(name)),
    kill: () => inTurn(() => remove(name), client.kill),
  };
}

/** Runs a program in the container of a directory. @returns its output. */
export async function inContainer(directory: string, command: readonly string[]): Promise<string> {
  return (await docker('exec', containerName(directory), ...command)).stdout;
}

/** Called before any timeout starts, because pulling an image may take minutes. */
export async function haveImage(image: string): Promise<void> {
  if (await docker('image', 'inspect', image).catch(() => null)) return;
  await docker('pull', '--quiet', image).catch((error: unknown) => {
    throw new Error(`Docker cannot get ${image}: ${complaintOf(error)}`, { cause: error });
  });
}

const containerName = (directory: string): string =>
  `quittance-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;

async function remove(name: string): Promise<void> {
  await docker('rm', '--force', '--volumes', name).catch(() => undefined);
}
