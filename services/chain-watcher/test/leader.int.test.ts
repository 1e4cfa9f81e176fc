import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { INTERNAL_TOKEN, networksOf, type RunningWatcher } from './watcher.ts';
import { newWallet, startWorld, untilHeard, untilWatched, type World } from './world.ts';

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Checks that transfers to a fresh wallet are still told, once each. */
async function expectService(world: World): Promise<void> {
  const wallet = newWallet();
  await world.announce({ recipient: wallet });
  await untilWatched(world, wallet);
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(2);
  await untilHeard(world, wallet, ['seen', 'confirmed']);
}

const isLeader = async ({ metrics }: RunningWatcher) =>
  (await metrics.registry.getSingleMetric('chain_leader')?.get())?.values[0]?.value === 1;

describe('two replicas in processes of their own', () => {
  let world: World;
  let directory: string;
  const replicas: { process: ChildProcess; url: string }[] = [];

  async function startReplica(): Promise<{ process: ChildProcess; url: string }> {
    const child = spawn(process.execPath, [mainFile], {
      env: {
        ...{ PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info', INTERNAL_TOKEN },
        ...{ DATABASE_URL: world.database.url, AMQP_URL: world.broker.url },
        NETWORKS_FILE: join(directory, 'networks.json'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { promise: port, resolve } = Promise.withResolvers<number>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as { msg: string; port?: number };
      if (said.msg === 'listening' && said.port !== undefined) resolve(said.port);
    });
    const replica = { process: child, url: `http://127.0.0.1:${await port}` };
    replicas.push(replica);
    return replica;
  }

  const leads = async ({ url }: { url: string }) =>
    /chain_leader\{[^}]*\} 1/.test(await (await fetch(`${url}/metrics`)).text());

  beforeAll(async () => {
    world = await startWorld();
    directory = await mkdtemp(join(tmpdir(), 'chain-watcher-'));
    await writeFile(join(directory, 'networks.json'), JSON.stringify(networksOf({ chain: world.chain })));
  }, 30_000);
  afterAll(async () => {
    for (const { process: child } of replicas) child.kill('SIGKILL');
    await world.close();
    await rm(directory, { recursive: true });
  });

  test('one leads; when it is killed with work under way, the other goes on and says nothing twice', async () => {
    const first = await startReplica();
    await eventually(async () => expect(await leads(first)).toBe(true));
    const second = await startReplica();
    await expectService(world);
    expect(await leads(second)).toBe(false);

    const wallet = newWallet();
    await world.announce({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 5n);
    first.process.kill('SIGKILL');
    await world.chain.mine(2);
    await untilHeard(world, wallet, ['seen', 'confirmed']);
    await eventually(async () => expect(await leads(second)).toBe(true));
    await expectService(world);
    expect(new Set(world.heard.map((m) => `${m.transaction_id} ${m.version}`)).size).toBe(world.heard.length);
  }, 60_000);

  test('a leader that is told to stop hands over at once', async () => {
    const second = replicas[1]!;
    const third = await startReplica();
    const exited = new Promise((resolve) => second.process.once('exit', resolve));
    second.process.kill('SIGTERM');
    expect(await exited).toBe(0);
    await eventually(async () => expect(await leads(third)).toBe(true));
    await expectService(world);
  }, 60_000);
});

describe('a leader that loses its right', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.close());

  test('because its connection ends steps down, and scanning goes on', async () => {
    const watcher = world.watch();
    await expectService(world);
    await world.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'watcher leader' and datname = current_database()`,
    );
    await expectService(world);
    const { rows } = await world.pool.query<{ epoch: bigint }>('select epoch from cursor');
    expect(rows[0]!.epoch).toBe(2n);
    await watcher.close();
  });

  test('because it was frozen is replaced after its lease, and cannot store anything afterwards', async () => {
    const proxy = await faultProxy({ target: world.database.url });
    const frozen = world.watch({ leaderDatabaseUrl: proxy.url, leaseMs: 600 });
    await eventually(async () => expect(await isLeader(frozen)).toBe(true));
    const other = world.watch();
    proxy.stall();
    await eventually(async () => expect(await isLeader(other)).toBe(true));
    await expectService(world);
    await eventually(async () => expect(await isLeader(frozen)).toBe(false));
    proxy.restore();
    await expectService(world);
    await frozen.close();
    await proxy.close();
  }, 30_000);
});
