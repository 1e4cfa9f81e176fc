import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { heightsOf, hiding, incidentsOf, misstating, unansweringNode } from './second-reading.ts';
import { watchedWallet } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

const untilAudited = (world: World, atLeast = 0) =>
  eventually(async () => {
    const { audited, final } = await heightsOf(world);
    expect(audited).toBe(final);
    expect(audited).toBeGreaterThanOrEqual(atLeast);
  });

/** Makes the leader do other work in the background, and waits for it. */
async function rescanGenesis(watcher: RunningWatcher): Promise<void> {
  const rescan = { actor: 'olga', reason: 'to pass the time', from_block: 0, to_block: 0 };
  await watcher.call('POST', '/internal/v1/chains/local/rescans', rescan);
  await eventually(async () => {
    const { body } = await watcher.call('GET', '/internal/v1/chains/local/rescans');
    const [newest] = (body as { rescans: { state: string }[] }).rescans;
    expect(newest).toMatchObject({ state: 'done' });
  });
}

describe('final blocks are read again through another endpoint', () => {
  let world: World;
  let first: MisbehavingNode;
  let second: MisbehavingNode;
  let watcher: RunningWatcher;

  beforeAll(async () => {
    world = await startWorld();
    [first, second] = [await misbehavingNode(world.chain), await misbehavingNode(world.chain)];
    watcher = world.watch({ rpcUrls: [first.url, second.url] });
  });
  afterAll(async () => {
    await world.close();
    await Promise.all([first.close(), second.close()]);
  });
  afterEach(async () => {
    for (const node of [first, second]) {
      node.spoil(null);
      node.replaceAll(null);
    }
    await untilAudited(world);
    await world.pool.query('delete from incident');
  });

  const gaps = async () =>
    (await watcher.metrics.registry.getSingleMetric('chain_missed_transfers_total')?.get())?.values[0]?.value ?? 0;

  test('and a transfer that the first one hides is published once, with one incident', async () => {
    const wallet = await watchedWallet(world);
    const before = await gaps();
    let hidden = '';
    first.spoil(hiding((hash) => hidden === '' || hash === hidden));
    hidden = await world.chain.transfer(wallet, 5n);
    const shown = await world.chain.transfer(wallet, 6n);
    await world.chain.mine(2);
    await untilScanned(world);
    const messages = await eventually(() => {
      const received = world.received.filter(({ to }) => to === wallet);
      expect(received.map((m) => [m.transaction_id, m.phase]).sort()).toEqual(
        [hidden, shown].flatMap((hash) => ['confirmed', 'seen'].map((phase) => [hash.slice(2), phase])).sort(),
      );
      return received;
    });
    const { block_number: number } = messages.find(({ transaction_id: id }) => id === hidden.slice(2))!;
    expect(await incidentsOf(watcher)).toMatchObject([
      {
        kind: 'transfer_missed',
        network: 'local',
        detail: { transaction_id: hidden.slice(2), transaction_event_index: 0, block_number: number },
        times: 1,
      },
    ]);
    expect((await gaps()) - before).toBe(1);
  });

  test('and again after a back-fill from which the first one hid a transfer', async () => {
    const wallet = newWallet();
    const createdAt = new Date().toISOString();
    const hidden = await world.chain.transfer(wallet, 5n);
    await world.chain.mine(5);
    await untilScanned(world);
    await untilAudited(world);
    first.spoil(hiding((hash) => hash === hidden));
    await world.publishPaymentCreated({ recipient: wallet, created_at: createdAt });
    await untilWatched(world, wallet);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(await incidentsOf(watcher)).toMatchObject([
      { kind: 'transfer_missed', detail: { transaction_id: hidden.slice(2) } },
    ]);
  });

  test('and a transfer that the other one does not show stays unchanged, for a person to decide', async () => {
    const wallet = await watchedWallet(world);
    let hidden = '';
    second.spoil(hiding((hash) => hidden === '' || hash === hidden));
    hidden = await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilAudited(world);
    expect(await incidentsOf(watcher)).toMatchObject([
      { kind: 'transfer_unseen_by_audit', detail: { transaction_id: hidden.slice(2) } },
    ]);
    // Reading the same blocks again raises no second incident.
    const { final } = await heightsOf(world);
    const rescan = { actor: 'olga', reason: 'once more', from_block: final - 3, to_block: final };
    await watcher.call('POST', '/internal/v1/chains/local/rescans', rescan);
    await eventually(async () => expect(await incidentsOf(watcher)).toMatchObject([{ times: 2 }]));
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('and transfers from before a wallet was watched are ignored', async () => {
    await untilAudited(world);
    second.replaceAll('drop');
    const wallet = newWallet();
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(4);
    await untilScanned(world);
    await world.publishPaymentCreated({
      recipient: wallet,
      created_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await untilWatched(world, wallet);
    const { final } = await heightsOf(world);
    second.replaceAll(null);
    await untilAudited(world, final);
    await untilReceived(world, wallet, []);
    expect(await incidentsOf(watcher)).toEqual([]);
  });

  test('and while that one is down, new blocks are still scanned, and the audit catches up later', async () => {
    const wallet = await watchedWallet(world);
    await untilAudited(world);
    const before = (await heightsOf(world)).audited;
    second.replaceAll('drop');
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(5);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    const requests = second.requests();
    await eventually(() => expect(second.requests()).toBeGreaterThan(requests));
    expect((await heightsOf(world)).audited).toBe(before);
    second.replaceAll(null);
    await untilAudited(world, before + 5);
    expect(await incidentsOf(watcher)).toEqual([]);
  });

  test('and if a range is too large for that one, it is asked for less', async () => {
    await untilAudited(world);
    const spans: number[] = [];
    second.spoil((call) => {
      const [{ fromBlock, toBlock }] = (call.method === 'eth_getLogs' ? call.params : [{}]) as [Record<string, string>];
      if (fromBlock === undefined) return undefined;
      const span = Number(toBlock) - Number(fromBlock) + 1;
      spans.push(span);
      return span > 10 ? { result: undefined, error: { code: -32005, message: 'block range is too wide' } } : undefined;
    });
    await world.chain.mine(60);
    await untilScanned(world);
    await untilAudited(world);
    expect(Math.max(...spans)).toBeGreaterThan(10);
    expect(spans.filter((span) => span <= 10).length).toBeGreaterThan(5);
  });

  test('by the endpoint that did not read them first: when the scan changes endpoints, so does the audit', async () => {
    const wallet = await watchedWallet(world);
    await untilAudited(world);
    first.replaceAll('drop');
    let hidden = '';
    second.spoil(hiding((hash) => hidden === '' || hash === hidden));
    hidden = await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilScanned(world);
    await untilReceived(world, wallet, []);
    first.replaceAll(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(await incidentsOf(watcher)).toMatchObject([{ kind: 'transfer_missed' }]);
  });
});

test.each(['amount', 'sender'] as const)(
  'an endpoint that showed another %s is detected, and a person decides',
  async (what) => {
    const world = await startWorld();
    const first = await misbehavingNode(world.chain);
    const watcher = world.watch({ rpcUrls: [first.url, world.chain.rpcUrl] });
    const wallet = await watchedWallet(world);
    first.spoil(misstating(what));
    const hash = await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await eventually(async () => {
      expect(await incidentsOf(watcher)).toMatchObject([
        { kind: 'transfer_unseen_by_audit', detail: { transaction_id: hash.slice(2) } },
      ]);
    });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await world.close();
    await first.close();
  },
);

test('an endpoint that does not answer the audit delays no new block', async () => {
  const world = await startWorld();
  const node = await unansweringNode(world.chain.rpcUrl);
  // On a slow machine, the request may have reached its deadline before the payment is done.
  world.watch({ rpcUrls: [world.chain.rpcUrl, node.url], rpcTimeoutMs: 60_000 });
  const wallet = await watchedWallet(world);
  const confirmed = () => world.received.filter(({ to, phase }) => to === wallet && phase === 'confirmed').length;
  await eventually(async () => {
    await world.chain.mine(1);
    const waiting = node.waiting();
    expect(waiting).not.toBeNull();
    const before = confirmed();
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await eventually(() => expect(confirmed()).toBeGreaterThan(before));
    // A whole payment is done, and the same request is still open.
    expect(node.waiting()).toBe(waiting);
  });
  await world.close();
  await node.close();
});

describe('with a single endpoint', () => {
  test('blocks are read from it again later, when it may have completed its index', async () => {
    const world = await startWorld();
    const node = await misbehavingNode(world.chain);
    const watcher = world.watch({ rpcUrls: [node.url] });
    const wallet = await watchedWallet(world);
    node.spoil(hiding(() => true));
    const hash = await world.chain.transfer(wallet, 5n);
    await world.chain.rpc('evm_increaseTime', [30]);
    await world.chain.mine(5);
    await untilScanned(world);
    // If it were read again by now, the audit would miss the transfer as the scan did.
    for (let rescans = 0; rescans < 4; rescans += 1) await rescanGenesis(watcher);
    node.spoil(null);
    await untilReceived(world, wallet, []);
    await world.chain.rpc('evm_increaseTime', [120]);
    await world.chain.mine(5);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(await incidentsOf(watcher)).toMatchObject([
      { kind: 'transfer_missed', detail: { transaction_id: hash.slice(2) } },
    ]);
    await world.close();
    await node.close();
  });
});

test('the audit begins where the scan began, even after a kill before its first range', async () => {
  const world = await startWorld();
  const first = await misbehavingNode(world.chain);
  const before = world.watch({ rpcUrls: [first.url] });
  const wallet = await watchedWallet(world);
  first.spoil(hiding(() => true));
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(50);
  await untilScanned(world);
  await before.close();
  await world.pool.query('update cursor set audited_number = null');
  world.watch({ rpcUrls: [first.url, world.chain.rpcUrl] });
  await untilReceived(world, wallet, ['seen', 'confirmed']);
  await world.close();
  await first.close();
});
