import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { RunningWatcher } from './watcher.ts';
import { newWallet, startWorld, untilHeard, untilScanned, untilWatched, type World } from './world.ts';

const openIncidents = async ({ pool }: World) =>
  (await pool.query<{ kind: string; detail: object }>('select kind, detail from incident order by raised_at')).rows;

/** Rows that count, of transfers to this wallet. */
const counted = async ({ pool }: World, wallet: string) =>
  (
    await pool.query<{ amount_units: string; phase: string }>(
      `select amount_units, phase from transfer where recipient = $1 and phase <> 'retracted'`,
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
    await world.announce({ recipient: wallet });
    await untilWatched(world, wallet);
  });

  /** Puts a signed transaction into the n-th (from 0) of the blocks that replace the newest `depth`. */
  const reorganiseWith = (depth: number, raw: string, position: number) =>
    world.chain.rpc('anvil_reorg', [depth, [[raw, position]]]);
  const rawOf = (hash: string) => world.chain.rpc<string>('eth_getRawTransactionByHash', [hash]);

  test('that drops a transfer retracts it, and leaves nothing that counts', async () => {
    await world.chain.transfer(wallet, 5n);
    const [seen] = await untilHeard(world, wallet, ['seen']);
    await world.chain.reorg(1);
    const [, retracted] = await untilHeard(world, wallet, ['seen', 'retracted']);
    expect(retracted).toEqual({ ...seen, phase: 'retracted', version: 2, confirmations: 0 });
    expect(await counted(world, wallet)).toEqual([]);
  });

  test('that puts the same transaction into another block moves the transfer there, confirmed once', async () => {
    const hash = await world.chain.transfer(wallet, 5n);
    const [first] = await untilHeard(world, wallet, ['seen']);
    const raw = await rawOf(hash);
    await world.chain.mine(1);
    await reorganiseWith(2, raw, 1);
    const [, , again] = await untilHeard(world, wallet, ['seen', 'retracted', 'seen']);
    expect(again).toMatchObject({ transaction_id: hash.slice(2), version: 3, block_number: first!.block_number + 1 });
    expect(again!.block_hash).not.toBe(first!.block_hash);
    await world.chain.mine(5);
    await untilHeard(world, wallet, ['seen', 'retracted', 'seen', 'confirmed']);
    expect(await counted(world, wallet)).toEqual([{ amount_units: '5', phase: 'confirmed' }]);
  });

  test('that replaces a transfer by another amount leaves only the other', async () => {
    await world.chain.transfer(wallet, 5n);
    await untilHeard(world, wallet, ['seen']);
    await world.chain.reorg(1);
    await world.chain.transfer(wallet, 6n);
    await eventually(async () => expect(await counted(world, wallet)).toEqual([{ amount_units: '6', phase: 'seen' }]));
  });

  test('that comes twice between two looks is seen as one', async () => {
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilHeard(world, wallet, ['seen']);
    await world.chain.reorg(3);
    await world.chain.reorg(2);
    await world.chain.mine(1);
    await untilHeard(world, wallet, ['seen', 'retracted']);
    await untilScanned(world);
  });

  test('that is deeper than the confirmations takes the confirmed transfer back and raises an incident', async () => {
    const hash = await world.chain.transfer(wallet, 5n);
    await world.chain.mine(6);
    await untilHeard(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
    await world.chain.reorg(7);
    await untilHeard(world, wallet, ['seen', 'confirmed', 'retracted']);
    expect(await openIncidents(world)).toMatchObject([
      { kind: 'confirmed_transfers_retracted', detail: { depth: 7, transfers: [{ transaction_id: hash.slice(2) }] } },
    ]);
  });
});

describe('a fork below the finalized block', () => {
  let world: World;
  let watcher: RunningWatcher;

  beforeAll(async () => {
    // Here the chain calls every block final that has two blocks on top of it.
    world = await startWorld({ slotsInAnEpoch: 1 });
    watcher = world.watch();
  });
  afterAll(() => world.close());

  test('halts the network with an incident, takes nothing back, and claims nothing any more', async () => {
    const wallet = newWallet();
    const { created_at: from } = await world.announce({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(5);
    await untilHeard(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
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
    const chains = await watcher.call('GET', '/internal/v1/chains');
    expect(chains.body).toMatchObject([{ halted_at: expect.any(String) }]);
    const window = {
      recipient: wallet,
      from: new Date(Date.parse(from) - 15_000),
      to: new Date(Date.now() + 60_000).toISOString(),
    };
    const { body } = await watcher.call('POST', '/internal/v1/windows', { network: 'local', windows: [window] });
    expect(body).toMatchObject({ scanned_through: null, transfers: [{ amount_units: '5', phase: 'confirmed' }] });
    await untilHeard(world, wallet, ['seen', 'confirmed']);
  });

  test('stays halted for the next leader too, until an operator continues', async () => {
    const other = world.watch();
    await watcher.close();
    await eventually(async () => {
      const metric = await other.metrics.registry.getSingleMetric('chain_halted')!.get();
      expect(metric.values).toMatchObject([{ value: 1 }]);
    });
    expect(await openIncidents(world)).toHaveLength(1);
  });
});
