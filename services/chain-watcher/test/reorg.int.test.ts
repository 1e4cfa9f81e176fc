import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { incidentsOf, onAnotherChain } from './second-reading.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

// A leader checks only now and then whether its halted network was resumed.
const openIncidents = async ({ pool }: World) =>
  (await pool.query<{ kind: string; detail: object }>('select kind, detail from incident order by opened_at')).rows;

/** Stored transfers to this wallet that are not retracted. */
const counted = async ({ pool }: World, wallet: string) =>
  (
    await pool.query<{ amount_units: string; phase: string }>(
      `select amount_units, phase from transfer where recipient = $1 and phase <> 'retracted' order by block_number`,
      [Buffer.from(wallet.slice(2), 'hex')],
    )
  ).rows;

describe('a reorg above the finalized block', () => {
  let world: World;
  let wallet: string;

  beforeAll(async () => {
    world = await startWorld();
    world.watch({ confirmations: 4 });
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    wallet = newWallet();
    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
  });

  /** Puts a signed transaction into the n-th (from 0) of the blocks that replace the newest `depth`. */
  const reorganiseWith = (depth: number, raw: string, position: number) =>
    world.chain.rpc('anvil_reorg', [depth, [[raw, position]]]);
  const rawOf = (hash: string) => world.chain.rpc<string>('eth_getRawTransactionByHash', [hash]);

  test('that drops a transfer retracts it, and no row of it counts', async () => {
    await world.chain.transfer(wallet, 5n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    await world.chain.reorg(1);
    const [, retracted] = await untilReceived(world, wallet, ['seen', 'retracted']);
    expect(retracted).toEqual({ ...seen, phase: 'retracted', version: 2, confirmations: 0 });
    expect(await counted(world, wallet)).toEqual([]);
  });

  test('that puts the same transaction into another block moves the transfer there, confirmed once', async () => {
    const hash = await world.chain.transfer(wallet, 5n);
    const [first] = await untilReceived(world, wallet, ['seen']);
    const raw = await rawOf(hash);
    await world.chain.mine(1);
    await reorganiseWith(2, raw, 1);
    const [, , again] = await untilReceived(world, wallet, ['seen', 'retracted', 'seen']);
    expect(again).toMatchObject({ transaction_id: hash.slice(2), version: 3, block_number: first!.block_number + 1 });
    expect(again!.block_hash).not.toBe(first!.block_hash);
    await world.chain.mine(5);
    await untilReceived(world, wallet, ['seen', 'retracted', 'seen', 'confirmed']);
    expect(await counted(world, wallet)).toEqual([{ amount_units: '5', phase: 'confirmed' }]);
  });

  test('that replaces a transfer with one of another amount leaves only the new one', async () => {
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.reorg(1);
    await world.chain.transfer(wallet, 6n);
    await eventually(async () => expect(await counted(world, wallet)).toEqual([{ amount_units: '6', phase: 'seen' }]));
  });

  test('that comes twice between two looks is seen as one', async () => {
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.reorg(3);
    await world.chain.reorg(2);
    await world.chain.mine(1);
    await untilReceived(world, wallet, ['seen', 'retracted']);
    await untilScanned(world);
  });

  test('that is deeper than the confirmations retracts the confirmed transfer and raises an incident', async () => {
    const hash = await world.chain.transfer(wallet, 5n);
    await world.chain.mine(6);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
    await world.chain.reorg(7);
    await untilReceived(world, wallet, ['seen', 'confirmed', 'retracted']);
    expect(await openIncidents(world)).toMatchObject([
      { kind: 'confirmed_transfers_retracted', detail: { depth: 7, transfers: [{ transaction_id: hash.slice(2) }] } },
    ]);
  });
});

const author = { actor: 'olga', reason: 'asked the provider' };
const resume = (watcher: RunningWatcher, body: object = {}, network = 'local') =>
  watcher.call('POST', `/internal/v1/chains/${network}/resume`, { ...author, ...body });
const actionsOf = async (watcher: RunningWatcher) =>
  (await watcher.call('GET', '/internal/v1/operator-actions?network=local')).body;
type ShownChain = { halted_at: string | null; halt_reason: string | null };
const untilHalted = (watcher: RunningWatcher, reason: string) =>
  eventually(async () => {
    const { body } = await watcher.call('GET', '/internal/v1/chains');
    const [chain] = body as [ShownChain];
    expect(chain).toMatchObject({ halted_at: expect.any(String), halt_reason: expect.stringContaining(reason) });
  });

describe('a fork below the finalized block', () => {
  let world: World;
  let watcher: RunningWatcher;
  let wallet: string;

  beforeAll(async () => {
    // Here the chain calls a block final when two blocks are on top of it.
    world = await startWorld({ slotsInAnEpoch: 1 });
    watcher = world.watch();
  });
  afterAll(() => world.close());

  test('halts the network with an incident, retracts nothing, and claims nothing any more', async () => {
    wallet = newWallet();
    const { created_at: from } = await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(5);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
    expect(await resume(watcher)).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/not halted/) } });
    await world.chain.reorg(6);

    await eventually(async () => {
      expect(await openIncidents(world)).toMatchObject([{ kind: 'fork_below_finalized' }]);
    });
    const [incident] = await openIncidents(world);
    expect(incident!.detail).toMatchObject({
      block_number: expect.any(Number),
      ours: expect.any(String),
      theirs: expect.any(String),
    });
    await world.chain.transfer(wallet, 6n);
    await untilHalted(watcher, 'the nodes have another block');
    const window = {
      recipient: wallet,
      from,
      to: new Date(Date.now() + 60_000).toISOString(),
    };
    const { body } = await watcher.call('POST', '/internal/v1/transfers/in-windows', {
      network: 'local',
      windows: [window],
    });
    expect(body).toMatchObject({ scanned_through: null, transfers: [{ amount_units: '5', phase: 'confirmed' }] });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('stays halted for the next leader, and halts again after a resume if the nodes have not changed', async () => {
    const other = world.watch();
    await watcher.close();
    watcher = other;
    await eventually(async () => {
      const metric = await other.metrics.registry.getSingleMetric('chain_halted')!.get();
      expect(metric.values).toMatchObject([{ value: 1 }]);
    });
    const [first] = await incidentsOf(watcher);
    expect(await incidentsOf(watcher)).toHaveLength(1);

    expect(await resume(watcher)).toMatchObject({ status: 200, body: { ...author, accept_fork: false } });
    const second = await eventually(async () => {
      const [open, ...others] = await incidentsOf(watcher);
      expect(others).toEqual([]);
      expect(open).toMatchObject({ kind: 'fork_below_finalized', times: 1 });
      expect(open!.incident_id).not.toBe(first!.incident_id);
      return open!;
    });
    await untilHalted(watcher, 'the nodes have another block');
    expect(await incidentsOf(watcher, 'all')).toMatchObject([
      { ...first, resolved_at: expect.any(String), resolved_by: 'olga', resolved_reason: 'asked the provider' },
      second,
    ]);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('is followed once an operator has accepted it: missing transfers are retracted, and the scan continues', async () => {
    expect(await resume(watcher, { accept_fork: true })).toMatchObject({ status: 200, body: { accept_fork: true } });
    await eventually(() => {
      // Messages may overtake each other. That is what versions are for.
      const received = world.received
        .filter(({ to }) => to === wallet)
        .map((m) => [m.amount_units, m.version, m.phase].join(' '));
      expect(received.sort()).toEqual(['5 1 seen', '5 2 confirmed', '5 3 retracted', '6 1 seen']);
    });
    await untilScanned(world);
    await world.chain.mine(3);
    await eventually(() => {
      const received = world.received.filter(({ to, amount_units }) => to === wallet && amount_units === '6');
      expect(received.map(({ phase }) => phase).sort()).toEqual(['confirmed', 'seen']);
    });
    expect(await counted(world, wallet)).toEqual([{ amount_units: '6', phase: 'confirmed' }]);
    const [retracted, ...others] = await incidentsOf(watcher);
    expect(others).toEqual([]);
    expect(retracted).toMatchObject({ kind: 'confirmed_transfers_retracted', detail: { count: 1 } });
    expect(await actionsOf(watcher)).toMatchObject({
      actions: expect.arrayContaining([
        expect.objectContaining({ ...author, action: 'resume' }),
        expect.objectContaining({
          ...{ ...author, action: 'accept_fork' },
          detail: { outcome: 'walked_back', ancestor_number: expect.any(Number) },
        }),
      ]),
    });
  });

  test('is not followed a second time: the permission was for one', async () => {
    await untilScanned(world);
    await world.chain.reorg(5);
    await untilHalted(watcher, 'the nodes have another block');
    expect(await counted(world, wallet)).toEqual([{ amount_units: '6', phase: 'confirmed' }]);
  });

  test('of an unknown network cannot be accepted', async () => {
    expect(await resume(watcher, { accept_fork: true }, 'nowhere')).toMatchObject({ status: 404 });
    expect(await resume(watcher, { accept_fork: 'yes' })).toMatchObject({ status: 422 });
  });
});

test('an accepted fork to a shorter chain makes nothing final too early', async () => {
  const world = await startWorld({ slotsInAnEpoch: 2 });
  const watcher = world.watch({ finality: 'finalized' });
  const wallet = newWallet();
  await world.publishPaymentCreated({ recipient: wallet });
  await untilWatched(world, wallet);
  await world.chain.mine(12);
  await untilScanned(world);
  // The final block, four below the head, is replaced, and only one block follows it.
  await world.chain.rpc('anvil_rollback', [5]);
  await world.chain.transfer(wallet, 7n);
  await world.chain.mine(1);
  await untilHalted(watcher, 'the nodes have another block');
  await resume(watcher, { accept_fork: true });
  await untilScanned(world);
  expect(await counted(world, wallet)).toEqual([{ amount_units: '7', phase: 'seen' }]);
  await world.chain.mine(3);
  await eventually(async () =>
    expect(await counted(world, wallet)).toEqual([{ amount_units: '7', phase: 'confirmed' }]),
  );
  await world.close();
});

describe('an endpoint that shows a completely different chain', () => {
  let world: World;
  let node: MisbehavingNode;
  let watcher: RunningWatcher;
  let wallet: string;

  beforeAll(async () => {
    world = await startWorld({ slotsInAnEpoch: 1 });
    node = await misbehavingNode(world.chain);
    watcher = world.watch({ rpcUrls: [node.url] });
    wallet = newWallet();
    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(5);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
  });
  afterAll(async () => {
    await world.close();
    await node.close();
  });

  test('cannot be accepted: no block is shared, and the network stays halted, with that reason', async () => {
    node.spoil(onAnotherChain);
    await untilHalted(watcher, 'the nodes have another block');
    await resume(watcher, { accept_fork: true });
    await untilHalted(
      watcher,
      'the fork cannot be accepted: the nodes have none of the stored blocks, of which the oldest is',
    );
    expect(await actionsOf(watcher)).toMatchObject({
      actions: expect.arrayContaining([
        expect.objectContaining({ action: 'accept_fork', detail: { outcome: 'no_shared_block' } }),
      ]),
    });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('has no effect once it is removed: the network continues, and needs no permission', async () => {
    node.spoil(null);
    await resume(watcher, { accept_fork: true });
    await world.chain.transfer(wallet, 6n);
    await world.chain.mine(3);
    await eventually(async () =>
      expect(await counted(world, wallet)).toEqual([
        { amount_units: '5', phase: 'confirmed' },
        { amount_units: '6', phase: 'confirmed' },
      ]),
    );
    // The permission is dropped after the blocks are stored.
    await eventually(async () =>
      expect(await actionsOf(watcher)).toMatchObject({
        actions: expect.arrayContaining([
          expect.objectContaining({ action: 'accept_fork', detail: { outcome: 'not_needed' } }),
        ]),
      }),
    );
    // It was not used, and is not kept for another fork.
    await world.chain.reorg(5);
    await untilHalted(watcher, 'the nodes have another block');
  });
});
