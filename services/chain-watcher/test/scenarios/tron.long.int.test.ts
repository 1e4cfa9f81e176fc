import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { addressFromHex, parseAddress } from '@quittance/contracts/address.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { SOLIDIFIED_BEHIND } from '@quittance/local-backends/tron/answers.ts';
import { startTronNode, type TronNode } from '@quittance/local-backends/tron/node.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { RunningWatcher } from '../watcher.ts';
import { startWorld, untilReceived, untilScanned, type World } from '../world.ts';
import { askWindows, headOf, stateOfWatch } from '../support.ts';

// Real parts are slow on a busy machine. No test here passes or fails by time.
const toTron = (hex: string) => addressFromHex('tron', hex);
const hexOf = (address: string) => parseAddress(address)!.hex;
const tronWallet = () => toTron(newWallet());

/** A wallet in Tron's form that a payment waits on. */
async function watchedWallet(world: World): Promise<string> {
  const wallet = tronWallet();
  await world.publishPaymentCreated({ recipient: wallet });
  await eventually(async () => expect(await stateOfWatch(world, wallet)).toBe('watching'));
  return wallet;
}

/** The test chain with the settings of Tron, under the test network's name. */
const entryOf = (world: World, changes: Partial<Network> = {}): Partial<Network> => ({
  ...{ family: 'tron', usdt_contract: toTron(world.chain.token), default_evm: false, confirmations: 19 },
  ...{ finality: 'finalized', ...changes },
});

const pay = (world: World, wallet: string, units: bigint) => world.chain.transfer(hexOf(wallet), units);

describe('a network like Tron', () => {
  let world: World;
  let node: TronNode;
  let watcher: RunningWatcher;

  beforeAll(async () => {
    world = await startWorld();
    node = await startTronNode(world.chain);
    // So that there is a final block to begin at, as on any chain after a minute.
    await world.chain.mine(2 * SOLIDIFIED_BEHIND);
    watcher = world.watch({ rpcUrls: [node.url], entry: entryOf(world, { confirmations_without_finalized: 27 }) });
  });
  afterAll(async () => {
    await world.close();
    await node.close();
  });
  afterEach(() => {
    node.namesFinal(true);
    node.indexesFrom(0);
    node.refuseEvery(0);
    node.limitResults(10_000);
  });

  test('publishes a transfer with addresses in its own form, and confirms it when its block is final', async () => {
    const wallet = await watchedWallet(world);
    const hash = await pay(world, wallet, 12_340_000n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    expect(seen).toMatchObject({
      ...{ transaction_id: hash.slice(2), transaction_event_index: 0, amount_units: '12340000', decimals: 6 },
      ...{ from: toTron(world.chain.payer), to: wallet, confirmations: 1, confirmations_required: 19 },
    });
    await world.chain.mine(SOLIDIFIED_BEHIND - 1);
    await untilScanned(world);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.mine(1);
    const [, confirmed] = await untilReceived(world, wallet, ['seen', 'confirmed']);
    // Between the requests for the newest and for the final block, the node may have got another block.
    expect([SOLIDIFIED_BEHIND, SOLIDIFIED_BEHIND + 1]).toContain(confirmed!.confirmations);
  });

  test('answers payments about a window with addresses in its own form', async () => {
    const wallet = tronWallet();
    const { created_at: from } = await world.publishPaymentCreated({ recipient: wallet });
    await eventually(async () => expect(await stateOfWatch(world, wallet)).toBe('watching'));
    await pay(world, wallet, 42n);
    await untilReceived(world, wallet, ['seen']);
    const window = { recipient: wallet, from, to: new Date(Date.now() + 3_600_000).toISOString(), amount: '0.000042' };
    const { scanned_through, transfers } = await askWindows(watcher, window);
    expect(transfers).toMatchObject([{ to: wallet, from: toTron(world.chain.payer), amount_units: '42' }]);
    // Only the time before the final block's time is covered, and blocks of the same second share it.
    expect(Date.parse(scanned_through!)).toBeLessThanOrEqual(Date.parse(transfers[0]!.block_timestamp));
  });

  test('retracts the transfers that a reorg above its final block has dropped', async () => {
    const wallet = await watchedWallet(world);
    await pay(world, wallet, 5n);
    await world.chain.mine(SOLIDIFIED_BEHIND - 2);
    await untilReceived(world, wallet, ['seen']);
    await untilScanned(world);
    await world.chain.reorg(SOLIDIFIED_BEHIND - 1);
    await untilReceived(world, wallet, ['seen', 'retracted']);
    await world.chain.mine(SOLIDIFIED_BEHIND + 1);
    await untilScanned(world);
    await untilReceived(world, wallet, ['seen', 'retracted']);
  });

  test('does not believe an event of a failed transaction, although queries show it', async () => {
    const wallet = await watchedWallet(world);
    await world.chain.rpc('evm_setAutomine', [false]);
    const paying = pay(world, wallet, 5n);
    // The node has to know about the failure before it shows the block.
    const pending = await eventually(async () => {
      const { transactions } = await world.chain.rpc<{ transactions: string[] }>('eth_getBlockByNumber', [
        'pending',
        false,
      ]);
      expect(transactions).toHaveLength(1);
      return transactions[0]!;
    });
    node.fail(pending);
    await world.chain.rpc('evm_setAutomine', [true]);
    await world.chain.mine(1);
    expect(await paying).toBe(pending);
    await pay(world, wallet, 6n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    expect(seen!.amount_units).toBe('6');
  });

  test('finalizes nothing by depth once a node has named a final block, not even after a restart', async () => {
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    await watcher.close();
    node.namesFinal(false);
    watcher = world.watch({ rpcUrls: [node.url], entry: entryOf(world, { confirmations_without_finalized: 27 }) });
    await pay(world, wallet, 5n);
    await world.chain.mine(40);
    await untilScanned(world);
    await untilReceived(world, wallet, ['seen']);
    node.namesFinal(true);
    await world.chain.mine(1);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('continues when its node sometimes refuses because it lacks resources', async () => {
    const wallet = await watchedWallet(world);
    node.refuseEvery(8);
    await pay(world, wallet, 5n);
    await world.chain.mine(SOLIDIFIED_BEHIND);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });
});

describe('blocks with more events than a node returns', () => {
  test('cause only a pause, at the head and far behind, and hide no transfer', async () => {
    const world = await startWorld();
    const nodes = await Promise.all([startTronNode(world.chain), startTronNode(world.chain)]);
    try {
      await world.chain.mine(2 * SOLIDIFIED_BEHIND);
      const watch = () => world.watch({ rpcUrls: nodes.map(({ url }) => url), entry: entryOf(world) });
      const first = watch();
      const [near, far] = [await watchedWallet(world), await watchedWallet(world)];
      for (const node of nodes) node.limitResults(3);
      const crowd = (wallet: string) =>
        world.chain.transferBatch(
          [wallet, ...Array.from({ length: 3 }, tronWallet)].map((to) => ({ to: hexOf(to), units: 5n })),
        );
      await crowd(near);
      await untilReceived(world, near, ['seen']);
      await untilScanned(world);
      await first.close();
      await world.chain.mine(30);
      await crowd(far);
      await world.chain.mine(60);
      watch();
      await untilReceived(world, near, ['seen', 'confirmed']);
      await untilReceived(world, far, ['seen', 'confirmed']);
      await untilScanned(world);
    } finally {
      await world.close();
      await Promise.all(nodes.map((node) => node.close()));
    }
  });
});

describe('a Tron node whose event index is incomplete', () => {
  let world: World;
  let node: TronNode;

  beforeAll(async () => {
    world = await startWorld();
    node = await startTronNode(world.chain);
    await world.chain.mine(2 * SOLIDIFIED_BEHIND);
  });
  afterAll(async () => {
    await world.close();
    await node.close();
  });

  /** The messages about this wallet, in the order in which they were published. */
  const receivedFor = (wallet: string): TransferObserved[] => world.received.filter(({ to }) => to === wallet);

  test('hides no transfer: not at the head, not from a scan that is far behind, and not from a late watch', async () => {
    const first = world.watch({ rpcUrls: [node.url], entry: entryOf(world) });
    const [near, far, late] = [await watchedWallet(world), await watchedWallet(world), tronWallet()];
    const createdAt = new Date().toISOString();
    node.indexesFrom(1_000_000);
    await pay(world, near, 5n);
    await untilReceived(world, near, ['seen']);
    await untilScanned(world);
    await first.close();

    await pay(world, far, 6n);
    await pay(world, late, 7n);
    await world.chain.mine(300);
    world.watch({ rpcUrls: [node.url], entry: entryOf(world) });
    await untilReceived(world, far, ['seen', 'confirmed']);
    await untilScanned(world);
    expect(receivedFor(late)).toEqual([]);

    await world.publishPaymentCreated({ recipient: late, created_at: createdAt });
    await untilReceived(world, late, ['seen', 'confirmed']);
    await eventually(async () => expect(await stateOfWatch(world, late)).toBe('watching'));
  });
});

describe('a Tron node that names no final block', () => {
  test('makes 27 confirmations count instead', async () => {
    const world = await startWorld();
    const node = await startTronNode({ ...world.chain, hasFinalized: false });
    try {
      await world.chain.mine(60);
      const entry = entryOf(world, { confirmations_without_finalized: 27 });
      world.watch({ rpcUrls: [node.url], entry });
      const wallet = await watchedWallet(world);
      await pay(world, wallet, 5n);
      await world.chain.mine(25);
      await untilScanned(world);
      await untilReceived(world, wallet, ['seen']);
      await world.chain.mine(1);
      const [, confirmed] = await untilReceived(world, wallet, ['seen', 'confirmed']);
      expect(confirmed!.confirmations).toBe(27);
      // Blocks above that depth may still change.
      const other = await watchedWallet(world);
      await pay(world, other, 6n);
      await world.chain.mine(24);
      await untilReceived(world, other, ['seen']);
      await untilScanned(world);
      await world.chain.reorg(25);
      await untilReceived(world, other, ['seen', 'retracted']);
      expect(await headOf(world)).toBeGreaterThan(60);
    } finally {
      await world.close();
      await node.close();
    }
  });
});
