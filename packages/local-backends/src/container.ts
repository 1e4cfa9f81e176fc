import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { complaintOf, inTurn, startChild, type Child, type ChildOptions } from './child.ts';

const docker = (...words: string[]) => promisify(execFile)('docker', words, { cwd: '/' });

/** What runs in containers: the images of docker-compose.yml, without their digests. A test holds them together. */
export const images = {
  postgres: 'postgres:18.6-trixie',
  rabbitmq: 'rabbitmq:4.3.5-management-alpine',
  nginx: 'nginx:1.30.4-alpine-slim',
};

export type ContainerOptions = Pick<
  ChildOptions,
  'name' | 'logFile' | 'stopSignal' | 'graceMs' | 'temporaryDirectory'
> & {
  /** What the container works on. It is named after it, so that the next start finds what this one leaves behind. */
  directory: string;
  image: string;
  /** Of `docker run`, before the image. */
  options: string[];
  /** In place of the image's own. */
  command?: string[];
};

/** Whether Docker is here and its engine runs. */
export async function engineAnswers(): Promise<boolean> {
  const asked = promisify(execFile)('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 });
  return asked.then(
    () => true,
    () => false,
  );
}

/**
 * A container that lives as a child does: the client in the foreground hands signals on to it, and what is left of it when the client
 * has ended is removed.
 * @throws Error with the engine's complaint when there is no such image.
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

/** A program in the container of a directory. @returns what it wrote. */
export async function inContainer(directory: string, command: readonly string[]): Promise<string> {
  return (await docker('exec', containerName(directory), ...command)).stdout;
}

/** Before anything is waited for: an image may take minutes to come. */
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
