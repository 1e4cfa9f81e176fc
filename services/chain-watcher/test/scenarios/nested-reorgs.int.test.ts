import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { startWorld, untilReceived, untilScanned } from '../world.ts';
import { expectNothingTwice, watchedWallet } from '../support.ts';

// Real parts are slow on a busy machine. No test here passes or fails by time.
test('of two reorgs between two polls, the second inside the first, only the final state is published', async () => {
  const world = await startWorld();
  const node = await misbehavingNode(world.chain);
  try {
    world.watch({ rpcUrls: [node.url], confirmations: 6, entry: { receipts: 'proven' } });
    const [returning, last] = [await watchedWallet(world), await watchedWallet(world)];
    const between = await watchedWallet(world);
    const hash = await world.chain.transfer(returning, 5n);
    const raw = await world.chain.rpc<string>('eth_getRawTransactionByHash', [hash]);
    await world.chain.mine(2);
    const [seen] = await untilReceived(world, returning, ['seen']);
    await untilScanned(world);

    // From now on, every client sees the same head.
    const head = await world.chain.rpc<object>('eth_getBlockByNumber', ['latest', false]);
    node.spoil(({ params }) => (params[0] === 'latest' ? { result: head } : undefined));
    await world.chain.reorg(3);
    await world.chain.transfer(between, 6n);
    await world.chain.mine(1);
    // The first branch keeps its first block. A third branch replaces the blocks above it.
    await world.chain.rpc('anvil_reorg', [4, [[raw, 1]]]);
    await world.chain.transfer(last, 7n);
    await world.chain.mine(1);
    node.spoil(null);

    const [, , again] = await untilReceived(world, returning, ['seen', 'retracted', 'seen']);
    expect(again).toMatchObject({ transaction_id: hash.slice(2), version: 3, block_number: seen!.block_number + 2 });
    await untilReceived(world, last, ['seen']);
    await world.chain.mine(6);
    await untilReceived(world, last, ['seen', 'confirmed']);
    await untilReceived(world, returning, ['seen', 'retracted', 'seen', 'confirmed']);
    await untilScanned(world);
    expect(world.received.some(({ to }) => to === between)).toBe(false);
    expectNothingTwice(world);
    // The wallet works as before.
    await world.chain.transfer(between, 8n);
    await eventually(() => expect(world.received.some(({ to }) => to === between)).toBe(true));
  } finally {
    await world.close();
    await node.close();
  }
});
