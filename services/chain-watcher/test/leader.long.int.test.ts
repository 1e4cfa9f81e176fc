import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { replicasOf, type Replica, type Replicas } from './replica.ts';
import { expectNothingTwice, watchedWallet } from './support.ts';
import { type RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

/** Checks that transfers to a fresh wallet are still published, once each. */
async function expectService(world: World): Promise<void> {
  const wallet = await watchedWallet(world);
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(2);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
}

const isLeader = async ({ metrics }: RunningWatcher) =>
  (await metrics.registry.getSingleMetric('chain_leader')?.get())?.values[0]?.value === 1;

describe('replicas in separate processes', () => {
  let world: World;
  let replicas: Replicas;
  let first: Replica;
  let second: Replica;

  beforeAll(async () => {
    world = await startWorld();
    const [local] = networksOf({ chain: world.chain });
    const unreachable = {
      ...local,
      id: 'unreachable',
      default_evm: false,
      rpc_urls: ['http://127.0.0.1:9/a-secret-key'],
    };
    replicas = await replicasOf(world, [local, unreachable]);
  });
  afterAll(async () => {
    await replicas.close();
    await world.close();
  });

  test('a network whose nodes are unreachable stops neither the service nor the other networks', async () => {
    first = await replicas.start();
    await eventually(async () => expect(await first.leads('local')).toBe(true));
    await expectService(world);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  });

  test('one leads; when it is killed in the middle of work, the other one continues and publishes nothing twice', async () => {
    second = await replicas.start();
    await expectService(world);
    expect(await second.leads('local')).toBe(false);

    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, 5n);
    first.process.kill('SIGKILL');
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await eventually(async () => expect(await second.leads('local')).toBe(true));
    await expectService(world);
    expectNothingTwice(world);
  });

  test('a leader that is asked to stop hands over immediately', async () => {
    const third = await replicas.start();
    second.process.kill('SIGTERM');
    expect(await second.exited).toBe(0);
    await eventually(async () => expect(await third.leads('local')).toBe(true));
    await expectService(world);
    third.process.kill('SIGTERM');
    await third.exited;
  });

  test.each(['blocks-read', 'blocks-written', 'blocks-committed', 'outbox-published'])(
    'a power cut at %s loses nothing and publishes nothing twice',
    async (faultPoint) => {
      const before = await replicas.start();
      const wallet = await watchedWallet(world);
      await untilScanned(world);
      before.process.kill('SIGTERM');
      await before.exited;
      await world.chain.transfer(wallet, 5n);
      await world.chain.mine(2);
      const cut = await replicas.start({ FAULT_POINT: faultPoint });
      expect(await cut.exited).toBeNull();
      await replicas.start();
      await untilReceived(world, wallet, ['seen', 'confirmed']);
      expectNothingTwice(world);
      await replicas.stopAll();
    },
  );

  test('after a power cut, the back-fill of a late watch resumes', async () => {
    const wallet = newWallet();
    const running = await replicas.start();
    const createdAt = new Date().toISOString();
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilScanned(world);
    running.process.kill('SIGTERM');
    await running.exited;
    await world.publishPaymentCreated({ recipient: wallet, created_at: createdAt });
    const cut = await replicas.start({ FAULT_POINT: 'backfill-written' });
    expect(await cut.exited).toBeNull();
    await replicas.start();
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilWatched(world, wallet);
  });
});

describe('a leader that loses its lead', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.close());

  test('because its connection ends steps down, and the scan continues', async () => {
    const watcher = world.watch();
    await expectService(world);
    await world.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'watcher leader' and datname = current_database()`,
    );
    const expectSecondTerm = async () =>
      expect((await world.pool.query('select epoch from cursor')).rows).toEqual([{ epoch: 2n }]);
    // The end of a connection is not noticed immediately.
    await eventually(expectSecondTerm);
    await expectService(world);
    await expectSecondTerm();
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
  });
});
