import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@quittance/testkit/eventually.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { environmentText } from '../../infra/docker/setup/init/env-file.ts';

/** One compose project on the engine that answers here. */
export type Project = {
  /** To its end. @returns what it wrote. @throws Error with that, unless its exit code is 0. */
  compose(...words: string[]): Promise<string>;
  /** Starts what does not run, and waits until everything that is asked how it is says that it is well. */
  up(): Promise<void>;
  /** Kills process 1 of a service's container as a machine that is out of memory would, and waits until it is back and well. */
  killed(service: string): Promise<void>;
  containers(): Promise<Container[]>;
  /** Puts settings into its .env. */
  set(values: Record<string, string>): Promise<void>;
};

type Container = { service: string; id: string; image: string; state: string; health: string };

/** Patient beyond what any machine needs: whether something happens is judged here, and never how soon. */
const patience = { timeoutMs: 900_000 };
const run = promisify(execFile);

/** @param folder holds its .env. @param files of the checkout, the first one first. */
export function composeProject(folder: string, files: readonly string[]): Project {
  const environmentFile = join(folder, '.env');
  const words = ['compose', '--project-name', 'quittance-engine', '--project-directory', repositoryRoot];
  words.push('--env-file', environmentFile, ...files.flatMap((file) => ['--file', join(repositoryRoot, file)]));
  const compose = (...more: string[]) => docker(...words, ...more);
  const set = async (values: Record<string, string>): Promise<void> => {
    const earlier = await readFile(environmentFile, 'utf8').catch(() => null);
    const example = await readFile(join(repositoryRoot, '.env.example'), 'utf8');
    await writeFile(environmentFile, environmentText(example, earlier, values), { mode: 0o600 });
  };
  const containers = async (): Promise<Container[]> => {
    const lines = (await compose('ps', '--all', '--format', 'json')).trim().split('\n').filter(Boolean);
    return lines.map((line) => {
      const { Service, ID, Image, State, Health } = JSON.parse(line) as Record<string, string>;
      return { service: Service!, id: ID!, image: Image!, state: State!, health: Health! };
    });
  };
  const allWell = () =>
    eventually(async () => {
      const ill = (await containers()).filter(({ state, health }) => state === 'running' && health !== 'healthy');
      if (ill.length > 0) throw new Error(`not healthy: ${ill.map(({ service }) => service).join(', ')}`);
    }, patience);
  return {
    compose,
    set,
    containers,
    // A busy machine answers health checks late, which ends the wait and nothing else.
    up: async () => {
      await eventually(() => compose('up', '--detach', '--wait'), patience);
      await allWell();
    },
    killed: async (service) => {
      const { id } = (await containers()).find((container) => container.service === service)!;
      const [pid, before] = await inspect(id, '{{.State.Pid}} {{.RestartCount}}');
      // `docker kill` would count as a wish to have it stopped. By the engine's rights, which who calls it may lack.
      const { image } = (await containers()).find((container) => container.service === 'receiver')!;
      await docker(
        'run',
        '--rm',
        '--pid',
        'host',
        '--user',
        '0',
        image,
        'node',
        '-e',
        `process.kill(${pid}, 'SIGKILL')`,
      );
      await eventually(async () => {
        const [count, state] = await inspect(id, '{{.RestartCount}} {{.State.Status}}');
        if (count === before || state !== 'running') throw new Error(`${service} is ${state}, restarts: ${count}`);
      }, patience);
      await allWell();
    },
  };
}

async function inspect(id: string, format: string): Promise<string[]> {
  return (await docker('inspect', '--format', format, id)).trim().split(' ');
}

export async function docker(...words: string[]): Promise<string> {
  const { stdout } = await run('docker', words, { maxBuffer: 100_000_000 }).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`docker ${words.join(' ')} failed:\n${(stdout + stderr).split('\n').slice(-30).join('\n')}`);
  });
  return stdout;
}
