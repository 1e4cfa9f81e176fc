import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import { INTERNAL_TOKEN } from './watcher.ts';
import type { World } from './world.ts';

/** The service as a separate process, started from its main.ts. */
export type Replica = {
  process: ChildProcess;
  url: string;
  /** Settles with the exit code, or null after a kill. */
  exited: Promise<number | null>;
  /** Whether it scans this network. */
  leads(network: string): Promise<boolean>;
};

export type Replicas = {
  start(settings?: Record<string, string>): Promise<Replica>;
  /** Stops every replica gracefully. */
  stopAll(): Promise<void>;
  close(): Promise<void>;
};

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** What a process needs to find everything else. */
type ReplicaSurroundings = { database: Pick<World['database'], 'url'>; broker: Pick<World['broker'], 'url'> };

/** @param networks content of the networks file. */
export async function replicasOf(world: ReplicaSurroundings, networks: unknown): Promise<Replicas> {
  const directory = await mkdtemp(join(tmpdir(), 'chain-watcher-'));
  await writeFile(join(directory, 'networks.json'), JSON.stringify(networks));
  const started: Replica[] = [];
  return {
    async start(settings = {}) {
      const child = spawn(process.execPath, [mainFile], {
        env: {
          ...{ ...processEnvironment(), PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info', INTERNAL_TOKEN },
          ...{ DATABASE_URL: world.database.url, AMQP_URL: world.broker.url, ...settings },
          NETWORKS_FILE: join(directory, 'networks.json'),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
      const url = `http://127.0.0.1:${await listeningPort(child, exited)}`;
      const leads = async (network: string) => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return metrics.split('\n').some((line) => /^chain_leader\{.*\} 1$/.test(line) && line.includes(`"${network}"`));
      };
      const replica = { process: child, url, exited, leads };
      started.push(replica);
      return replica;
    },
    async stopAll() {
      for (const replica of started) replica.process.kill('SIGTERM');
      await Promise.all(started.map((replica) => replica.exited));
    },
    async close() {
      for (const replica of started) replica.process.kill('SIGKILL');
      await rm(directory, { recursive: true });
    },
  };
}

/** Read from the log, because port 0 was requested. A process that ends earlier, at a fault point, has port 0. */
function listeningPort(child: ChildProcess, exited: Promise<unknown>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const entry = JSON.parse(line) as { msg: string; port?: number };
    if (process.env.TEST_LOG_LEVEL) process.stderr.write(`${line}\n`);
    if (entry.msg === 'listening' && entry.port !== undefined) resolve(entry.port);
  });
  void exited.then(() => resolve(0));
  return promise;
}
