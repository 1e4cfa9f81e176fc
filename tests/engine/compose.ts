import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@quittance/testkit/eventually.ts';
import { environmentText } from '../../infra/docker/setup/init/env-file.ts';
import { docker, patience, run } from './docker.ts';

/** The compose project of one checkout, with its .env, on the engine that answers here. */
export type Project = {
  folder: string;
  /**
   * Runs a program of the checkout, such as `sh infra/docker/backup.sh`, to its end. @returns its stdout. @throws Error unless it exits
   * with 0.
   */
  run(program: string, ...words: string[]): Promise<string>;
  /** Runs `docker compose …` in the same way. */
  compose(...words: string[]): Promise<string>;
  /** Starts what does not run, or only one service, and waits until everything with a health check is healthy. */
  up(service?: string): Promise<void>;
  /** Kills process 1 of a service's container, as a machine without free memory would, and waits until it is back and healthy. */
  kill(service: string): Promise<void>;
  containers(): Promise<Container[]>;
  /** Sets values in its .env. */
  set(values: Record<string, string>): Promise<void>;
};

export type Container = { service: string; id: string; image: string; state: string; health: string };

/** The project name of everything started here. A deployment on this machine has a different one. */
export const projectName = 'quittance-engine';

/** @param version of our images, which helpers run from. */
export function composeProject(folder: string, version: string): Project {
  const here = { cwd: folder, env: { ...process.env, COMPOSE_PROJECT_NAME: projectName } };
  const compose = (...words: string[]) => run('docker', ['compose', ...words], here);
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
    folder,
    run: (program, ...words) => run(program, words, here),
    compose,
    containers,
    set: async (values) => {
      const file = join(folder, '.env');
      const earlier = await readFile(file, 'utf8').catch(() => null);
      const example = await readFile(join(folder, '.env.example'), 'utf8');
      await writeFile(file, environmentText(example, earlier, values), { mode: 0o600 });
    },
    up: async (service) => {
      const alone = service === undefined ? [] : ['--no-deps', service];
      await whenNotBusy(() => compose('up', '--detach', '--wait', ...alone));
      await allWell();
    },
    kill: async (service) => {
      const { id } = (await containers()).find((container) => container.service === service)!;
      const [pid, before] = await inspect(id, '{{.State.Pid}} {{.RestartCount}}');
      // After `docker kill`, the engine would not restart the container. The kill runs with the engine's rights, which the caller may lack.
      const words = ['run', '--rm', '--pid', 'host', '--user', '0', `quittance/setup:${version}`];
      await docker(...words, 'node', '-e', `process.kill(${pid}, 'SIGKILL')`);
      await eventually(async () => {
        const [count, state] = await inspect(id, '{{.RestartCount}} {{.State.Status}}');
        if (count === before || state !== 'running') throw new Error(`${service} is ${state}, restarts: ${count}`);
      }, patience);
      await allWell();
    },
  };
}

const refusals = ['Error response from daemon', 'error while interpolating'];

/**
 * On a busy machine, late health checks can end the wait of a start without any fault, so it is repeated. A refusal by the engine itself is
 * not.
 */
export async function whenNotBusy(start: () => Promise<string>): Promise<void> {
  const refusal = await eventually(async () => {
    try {
      await start();
      return null;
    } catch (error) {
      if (error instanceof Error && refusals.some((text) => error.message.includes(text))) return error;
      throw error;
    }
  }, patience);
  if (refusal !== null) throw refusal;
}

async function inspect(id: string, format: string): Promise<string[]> {
  return (await docker('inspect', '--format', format, id)).trim().split(' ');
}
